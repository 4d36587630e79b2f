/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/worker.h"

#include "common/child/confined.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALLOWED = 41, OUTPUTS = 3, LARGE_BYTES = 3 << 20 };

/* A command with three outputs: a file, standard output (which the worker writes to itself), and one not asked for. */
struct setting {
	char directory[64], file[96];
	struct worker_output outputs[OUTPUTS];
	struct worker worker;
	struct error err;
	int code;
};

static void set_up(struct setting *setting)
{
	*setting = (struct setting){ .directory = "/tmp/kelvin-worker-XXXXXX", .code = -1 };
	assert_non_null(mkdtemp(setting->directory));
	snprintf(setting->file, sizeof(setting->file), "%s/out", setting->directory);
	setting->outputs[0] = (struct worker_output){ setting->file, 0640 };
	setting->outputs[1] = (struct worker_output){ "-", 0 };
	setting->worker = (struct worker){ .subject = "a file", .outputs = setting->outputs, .output_count = OUTPUTS };
}

static size_t entries(const char *directory)
{
	DIR *opened = opendir(directory);
	size_t count = 0;

	assert_non_null(opened);
	while (readdir(opened))
		count++;
	closedir(opened);
	return count - 2;
}

static void tear_down(struct setting *setting)
{
	(void)unlink(setting->file);
	assert_int_equal(rmdir(setting->directory), 0);
}

static bool run(struct setting *setting, int (*work)(void *context))
{
	return worker_run(&setting->worker, work, setting, &setting->code, &setting->err);
}

/* The worker was ended or crashed: the command fails, and nothing is left in the directory. */
static void expect_failure(int (*work)(void *context), const char *words)
{
	struct setting setting;

	set_up(&setting);
	assert_false(run(&setting, work));
	assert_int_equal(setting.err.code, ERROR_SYSTEM);
	if (!strstr(setting.err.message, words))
		fail_msg("'%s' is not in: %s", words, setting.err.message);
	assert_int_equal(entries(setting.directory), 0);
	tear_down(&setting);
}

/* ---- Work ---- */

static int write_large(void *context)
{
	struct setting *setting = context;
	char *bytes = malloc(LARGE_BYTES);

	if (!bytes)
		return 2;
	memset(bytes, 'x', LARGE_BYTES);
	return worker_write(&setting->worker, 0, bytes, LARGE_BYTES, &setting->err) ? 3 : 2;
}

static void the_parent_writes_outputs(void **state)
{
	struct setting setting;
	struct stat info;

	set_up(&setting);
	assert_true(run(&setting, write_large));
	assert_int_equal(setting.code, 3);
	assert_int_equal(stat(setting.file, &info), 0);
	assert_int_equal(info.st_size, LARGE_BYTES);
	assert_int_equal(info.st_mode & 0777, 0640);
	assert_int_equal(info.st_uid, geteuid());
	assert_int_equal(entries(setting.directory), 1);
	tear_down(&setting);
}

static int write_and_tell(void *context)
{
	struct setting *setting = context;

	return worker_write_piece(&setting->worker, 0, "x", 1, &setting->err) &&
			       !worker_write(&setting->worker, 0, "x", 1, &setting->err) &&
			       strstr(setting->err.message, "No space")
		       ? 2
		       : 0;
}

/* The pieces come one after the other, an empty one among them, and the last one may be empty. */
static int write_pieces(void *context)
{
	struct setting *setting = context;
	const struct worker *worker = &setting->worker;

	return worker_write_piece(worker, 0, "one", 3, &setting->err) &&
			       worker_write_piece(worker, 0, "", 0, &setting->err) &&
			       worker_write_piece(worker, 0, " two", 4, &setting->err) &&
			       worker_write(worker, 0, "", 0, &setting->err)
		       ? 3
		       : 2;
}

static void an_output_may_come_in_pieces(void **state)
{
	CLEANUP(buffer_deinit) struct buffer written = { 0 };
	struct setting setting;

	set_up(&setting);
	assert_true(run(&setting, write_pieces));
	assert_int_equal(setting.code, 3);
	buffer_init(&written, LARGE_BYTES);
	assert_true(file_read(setting.file, &written, &setting.err));
	assert_string_equal(written.data, "one two");
	assert_int_equal(entries(setting.directory), 1);
	tear_down(&setting);
}

static void a_full_disk_is_the_works_failure(void **state)
{
	struct setting setting;

	set_up(&setting);
	setting.outputs[0].path = "/dev/full";
	assert_true(run(&setting, write_and_tell));
	assert_int_equal(setting.code, 2);
	tear_down(&setting);
}

static int end_at_once(void *context)
{
	return 0;
}

static void success_without_outputs_is_none(void **state)
{
	expect_failure(end_at_once, "ended before");
}

/* ---- A worker that was taken over ---- */

static int open_all(void *context)
{
	const struct setting *setting = context;
	static const char *const read[] = { "/etc/shadow", "/etc/passwd", "/proc/self/environ", "/dev/tty", "/" };

	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		if (open(read[i], O_RDONLY) >= 0)
			return ALLOWED;
	if (open(setting->file, O_WRONLY | O_CREAT, 0600) >= 0 || open("/tmp", O_RDWR | O_TMPFILE, 0600) >= 0)
		return ALLOWED;
	return setting->code == -1 ? 2 : ALLOWED;
}

static int type_into_terminal(void *context)
{
	return ioctl(STDOUT_FILENO, TIOCSTI, "x") < 0 && errno == EPERM ? 2 : ALLOWED;
}

static int make_executable(void *context)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		       ? 2
		       : ALLOWED;
}

static void files_terminals_and_code_are_refused(void **state)
{
	int (*const works[])(void *) = { open_all, type_into_terminal, make_executable };
	size_t count = child_slowdown() > 1 ? 1 : sizeof(works) / sizeof(works[0]);

	for (size_t i = 0; i < count; i++) {
		struct setting setting;

		set_up(&setting);
		assert_true(run(&setting, works[i]));
		assert_int_equal(setting.code, 2);
		tear_down(&setting);
	}
}

static int execute(void *context)
{
	(void)execl("/bin/sh", "sh", "-c", "exit 41", (char *)NULL);
	return 2;
}

static int make_socket(void *context)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 2 : ALLOWED;
}

static int signal_parent(void *context)
{
	(void)kill(getppid(), SIGSTOP);
	return 2;
}

static int fork_away(void *context)
{
	return fork() < 0 ? 2 : ALLOWED;
}

static int remove_output(void *context)
{
	(void)unlink(((struct setting *)context)->directory);
	return 2;
}

static int become_root(void *context)
{
	return setuid(0) == 0 ? ALLOWED : 2;
}

static void what_no_reader_does_ends_it(void **state)
{
	int (*const works[])(void *) = { execute, make_socket, signal_parent, fork_away, remove_output, become_root };

	if (child_slowdown() > 1)
		skip();
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		expect_failure(works[i], "did what no reader does");
}

static int crash(void *context)
{
	const struct rlimit none = { 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	(void)raise(SIGSEGV);
	return 0;
}

/* What precedes the bytes of a piece of an output. */
static void send_piece(const struct setting *setting, uint64_t output, uint64_t bytes, bool more)
{
	const uint64_t order[] = { output, bytes, more };

	(void)!write(setting->worker.socket, order, sizeof(order));
}

static void send_order(const struct setting *setting, uint64_t output, uint64_t bytes)
{
	send_piece(setting, output, bytes, false);
}

static int crash_half_way(void *context)
{
	send_order(context, 0, 1000);
	(void)!write(((struct setting *)context)->worker.socket, "half", 4);
	usleep(20000);
	return crash(context);
}

static void a_crash_leaves_nothing(void **state)
{
	expect_failure(crash, "crashed");
	expect_failure(crash_half_way, "nothing was written");
}

static int wait_for_end(void *context)
{
	char byte;

	(void)!read(((struct setting *)context)->worker.socket, &byte, 1);
	return 0;
}

static int order_unknown(void *context)
{
	send_order(context, OUTPUTS, 0);
	return wait_for_end(context);
}

static int order_unwanted(void *context)
{
	send_order(context, 2, 0);
	return wait_for_end(context);
}

static int order_endless(void *context)
{
	send_order(context, 0, UINT64_MAX);
	return wait_for_end(context);
}

static int order_two_at_once(void *context)
{
	send_piece(context, 0, 0, true);
	send_piece(context, 1, 0, false);
	return wait_for_end(context);
}

static int order_endless_pieces(void *context)
{
	send_piece(context, 0, 1, true);
	(void)!write(((struct setting *)context)->worker.socket, "x", 1);
	send_piece(context, 0, UINT64_MAX, false);
	return wait_for_end(context);
}

static int end_between_pieces(void *context)
{
	return worker_write_piece(&((struct setting *)context)->worker, 0, "half", 4, &(struct error){ 0 }) ? 0 : 2;
}

static void only_what_was_asked_for_is_written(void **state)
{
	expect_failure(order_two_at_once, "was killed");
	expect_failure(order_endless_pieces, "was killed");
	expect_failure(end_between_pieces, "ended before");
	expect_failure(order_unknown, "was killed");
	expect_failure(order_unwanted, "was killed");
	expect_failure(order_endless, "was killed");
}

static int write_twice(void *context)
{
	struct setting *setting = context;
	bool once = worker_write(&setting->worker, 0, "first", 5, &setting->err);

	send_order(setting, 0, 6);
	(void)!write(setting->worker.socket, "second", 6);
	return once ? wait_for_end(context) : 2;
}

static void an_output_is_written_once(void **state)
{
	struct setting setting;
	struct stat info;

	set_up(&setting);
	assert_false(run(&setting, write_twice));
	assert_non_null(strstr(setting.err.message, "/out was written before"));
	assert_int_equal(stat(setting.file, &info), 0);
	assert_int_equal(info.st_size, 5);
	tear_down(&setting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parent_writes_outputs),
		cmocka_unit_test(an_output_may_come_in_pieces),
		cmocka_unit_test(a_full_disk_is_the_works_failure),
		cmocka_unit_test(success_without_outputs_is_none),
		cmocka_unit_test(files_terminals_and_code_are_refused),
		cmocka_unit_test(what_no_reader_does_ends_it),
		cmocka_unit_test(a_crash_leaves_nothing),
		cmocka_unit_test(only_what_was_asked_for_is_written),
		cmocka_unit_test(an_output_is_written_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
