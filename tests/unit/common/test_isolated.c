/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Work in a child process: what it wrote is kept, whatever ended it. */

static const struct isolated_limits roomy = { .seconds = 60, .memory_bytes = (size_t)1 << 30 };

static void expect_ended(struct isolated *isolated)
{
	assert_true(isolated_has_ended(isolated));
	assert_int_equal(isolated->pid, 0);
	/* It is no zombie of ours either. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void count_letters(void *context, void *result)
{
	*(size_t *)result = strlen(context);
}

static void what_it_writes_is_kept(void **state)
{
	struct isolated isolated = { 0 };
	char text[] = "five!";
	struct error err;

	for (size_t i = 0; i < 3; i++) {
		text[i] = 'x';
		assert_true(isolated_start(&isolated, &roomy, sizeof(size_t), count_letters, text, &err));
		isolated_wait(&isolated);
		assert_int_equal(*(size_t *)isolated.result, 5);
		expect_ended(&isolated);
	}
	isolated_deinit(&isolated);
	assert_null(isolated.result);
}

static void write_and_die(void *context, void *result)
{
	*(int *)result = 7;
	*(int *)context = 8;
	kill(getpid(), SIGKILL);
}

static void a_crash_ends_the_child_alone(void **state)
{
	struct isolated isolated = { 0 };
	struct error err;
	int here = 1;

	assert_true(isolated_start(&isolated, &roomy, sizeof(int), write_and_die, &here, &err));
	isolated_wait(&isolated);
	assert_int_equal(*(int *)isolated.result, 7);
	assert_int_equal(here, 1);
	expect_ended(&isolated);
	isolated_deinit(&isolated);
}

static void sleep_for_ever(void *context, void *result)
{
	*(int *)result = 1;
	for (;;)
		pause();
}

static void its_time_is_limited(void **state)
{
	static const struct isolated_limits brief = { .seconds = 1, .memory_bytes = (size_t)1 << 30 };
	struct isolated isolated = { 0 };
	struct error err;

	assert_true(isolated_start(&isolated, &brief, sizeof(int), sleep_for_ever, NULL, &err));
	isolated_wait(&isolated);
	expect_ended(&isolated);
	isolated_deinit(&isolated);
}

static void map_much(void *context, void *result)
{
	void *memory = mmap(NULL, *(size_t *)context, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*(int *)result = memory == MAP_FAILED ? 1 : 2;
}

static void its_memory_is_limited(void **state)
{
	static const struct isolated_limits small = { .seconds = 60, .memory_bytes = (size_t)64 << 20 };
	size_t fits = (size_t)16 << 20, too_much = (size_t)256 << 20;
	struct isolated isolated = { 0 };
	struct error err;

	assert_true(isolated_start(&isolated, &small, sizeof(int), map_much, &fits, &err));
	isolated_wait(&isolated);
	assert_int_equal(*(int *)isolated.result, 2);
	assert_true(isolated_start(&isolated, &small, sizeof(int), map_much, &too_much, &err));
	isolated_wait(&isolated);
	assert_int_equal(*(int *)isolated.result, 1);
	isolated_deinit(&isolated);
}

static void giving_it_up_ends_it(void **state)
{
	struct isolated isolated = { 0 };
	struct error err;

	assert_true(isolated_start(&isolated, &roomy, sizeof(int), sleep_for_ever, NULL, &err));
	assert_false(isolated_has_ended(&isolated));
	isolated_deinit(&isolated);
	expect_ended(&isolated);
}

/* ---- A child that was taken over ---- */

enum { REFUSED = 1, ALLOWED = 2 };

/* What it does beside computing; `result` tells whether it could, and is 0 if that ended it. */
static void open_secret(void *context, void *result)
{
	*(int *)result = open("/etc/shadow", O_RDONLY) < 0 ? REFUSED : ALLOWED;
}

static void open_public(void *context, void *result)
{
	*(int *)result = open("/etc/passwd", O_RDONLY) < 0 ? REFUSED : ALLOWED;
}

static void read_descriptor(void *context, void *result)
{
	char byte;

	*(int *)result = read(*(int *)context, &byte, 1) == 1 ? ALLOWED : REFUSED;
}

static void write_file(void *context, void *result)
{
	*(int *)result = open("/tmp", O_WRONLY | O_TMPFILE, 0600) < 0 ? REFUSED : ALLOWED;
}

static void write_message(void *context, void *result)
{
	*(int *)result = write(STDERR_FILENO, "taken over\n", 11) < 0 ? REFUSED : ALLOWED;
}

static void execute(void *context, void *result)
{
	*(int *)result = 0;
	(void)execl("/bin/true", "true", (char *)NULL);
	*(int *)result = errno == EACCES ? REFUSED : ALLOWED;
}

static void make_socket(void *context, void *result)
{
	*(int *)result = socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? REFUSED : ALLOWED;
}

static void stop_parent(void *context, void *result)
{
	*(int *)result = kill(getppid(), 0) < 0 ? REFUSED : ALLOWED;
}

static void start_process(void *context, void *result)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	*(int *)result = pid < 0 ? REFUSED : ALLOWED;
}

static int attempt(void (*work)(void *context, void *result), const struct isolated_limits *limits, int fd)
{
	struct isolated isolated = { 0 };
	struct error err;
	int result;

	assert_true(isolated_start(&isolated, limits, sizeof(int), work, &fd, &err));
	isolated_wait(&isolated);
	result = *(int *)isolated.result;
	isolated_deinit(&isolated);
	return result;
}

static void it_reaches_no_files(void **state)
{
	struct isolated_limits limits = roomy;
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(attempt(open_public, &limits, -1), REFUSED);
	assert_int_equal(attempt(read_descriptor, &limits, fd), REFUSED);
	limits.descriptors = &fd;
	limits.descriptor_count = 1;
	assert_int_equal(attempt(read_descriptor, &limits, fd), ALLOWED);
	limits.reads_files = true;
	assert_int_equal(attempt(open_public, &limits, -1), ALLOWED);
	if (geteuid() == 0)
		assert_int_equal(attempt(open_secret, &limits, -1), REFUSED);
	assert_int_equal(attempt(write_file, &limits, -1), REFUSED);
	close(fd);
}

static void it_reaches_nobody(void **state)
{
	void (*const works[])(void *, void *) = { write_message, execute, make_socket, stop_parent, start_process };

	if (child_slowdown() > 1)
		skip();
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		assert_int_not_equal(attempt(works[i], &roomy, -1), ALLOWED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_writes_is_kept),
		cmocka_unit_test(a_crash_ends_the_child_alone),
		cmocka_unit_test(its_time_is_limited),
		cmocka_unit_test(its_memory_is_limited),
		cmocka_unit_test(giving_it_up_ends_it),
		cmocka_unit_test(it_reaches_no_files),
		cmocka_unit_test(it_reaches_nobody),
	};

	return cmocka_run_group_tests_name("common.isolated", tests, NULL, NULL);
}
