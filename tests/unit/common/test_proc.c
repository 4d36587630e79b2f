/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/support/unit_test.h"

#include "common/common.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define NUMBERS                                                                                                           \
	" 7 8 9 0 -1 4194304 1 2 3 4 250 50 30 20 20 0 3 0 12345 1000 10 18446744073709551615 1 2 3 4 5 6 7 8 9 10 11 0 " \
	"17 1 0 0 0 0 0 20 21 22 23 24 4096 8192 0\n"

/* No /proc has it: ids have at most 22 bits. */
enum { NO_PID = 0x7ffffff0 };

static const char stat_line[] = "4711 (a) R 1 (b\n) S" NUMBERS;

static void a_stat_is_parsed(void **state)
{
	const int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	struct proc_stat stat;

	assert_true(proc_parse_stat(stat_line, sizeof(stat_line) - 1, &stat));
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent, 7);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.cpu_ns, 300 * tick_ns);
	assert_int_equal(stat.children_cpu_ns, 50 * tick_ns);
	assert_int_equal(stat.began_boot_ns, 12345 * tick_ns);
	assert_int_equal(stat.environment_start, 4096);
	assert_int_equal(stat.environment_end, 8192);
}

static void names_are_no_fields(void **state)
{
	static const char *const names[] = { "", ")", "(", ") Z", "\n", ")\n4712 (", " ", "a b", "(((", ")))" };
	char line[512];
	struct proc_stat stat;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int size = snprintf(line, sizeof(line), "4711 (%s) t" NUMBERS, names[i]);

		assert_true(proc_parse_stat(line, (size_t)size, &stat));
		assert_int_equal(stat.state, 't');
		assert_int_equal(stat.parent, 7);
	}
}

static void every_truncation_of_a_stat_is_refused(void **state)
{
	struct proc_stat stat;

	for (size_t size = 0; size < sizeof(stat_line) - 1; size++) {
		char *copy = malloc(size + !size);

		memcpy(copy, stat_line, size);
		assert_false(proc_parse_stat(copy, size, &stat));
		free(copy);
	}
}

/* Linux 3.4 has no addresses of the environment; a later one may have more than we know. */
static void other_kernels_stats_are_parsed(void **state)
{
	static const char less[] = "1 (a) S 7 8 9 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 99\n", more[] = "1 (a) S" NUMBERS;
	static const char bad[] = "1 (a) S 7 8 9 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 x\n";
	struct proc_stat stat;
	char line[512];

	assert_true(proc_parse_stat(less, sizeof(less) - 1, &stat));
	assert_int_equal(stat.environment_start, 0);
	snprintf(line, sizeof(line), "%.*s 1 2 3\n", (int)sizeof(more) - 2, more);
	assert_true(proc_parse_stat(line, strlen(line), &stat));
	assert_int_equal(stat.environment_end, 8192);
	assert_false(proc_parse_stat(bad, sizeof(bad) - 1, &stat));
}

/* A process with a hostile name, which sleeps until it is killed. */
static pid_t start(const char *name)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void a_process_is_read_until_it_is_gone(void **state)
{
	static const char name[] = ") R 1\n(";
	pid_t pid = start(name);
	char comm[PROC_COMM_BYTES];
	struct proc_stat stat;
	struct proc_status users;

	proc_read_comm(pid, pid, comm);
	assert_string_equal(comm, name);
	assert_true(proc_read_stat(pid, &stat));
	assert_int_equal(stat.parent, getpid());
	assert_int_equal(stat.threads, 1);
	assert_true(proc_is_alive(pid));
	assert_int_equal(proc_leader_of(pid), pid);
	assert_true(proc_read_status(pid, pid, "Uid", &users));
	assert_int_equal(users.first, getuid());
	assert_false(proc_read_status(pid, pid, "Ui", &users));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_thread_state(pid, pid), 'Z');
	assert_false(proc_is_alive(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_is_gone_is_a_value(void **state)
{
	CLEANUP(buffer_deinit) struct buffer children = { 0 };
	char comm[PROC_COMM_BYTES], text[16];
	struct proc_stat stat;
	struct proc_status status;
	struct error err = { 0 };
	int32_t *tids;
	size_t count;

	assert_false(proc_read_stat(NO_PID, &stat));
	assert_int_equal(proc_thread_state(NO_PID, NO_PID), '\0');
	assert_int_equal(proc_cpu_ns(NO_PID), -1);
	assert_int_equal(proc_cpu_with_children_ns(NO_PID), -1);
	assert_int_equal(proc_thread_cpu_ns(NO_PID), -1);
	assert_int_equal(proc_start_unix_s(NO_PID), 0);
	assert_int_equal(proc_parent_of(NO_PID), 0);
	assert_int_equal(proc_leader_of(NO_PID), -1);
	assert_int_equal(proc_inner_tid(NO_PID, 5), 5);
	assert_false(proc_read_status(NO_PID, NO_PID, "Uid", &status));
	assert_false(proc_read_text(NO_PID, NO_PID, "syscall", text, sizeof(text)));
	assert_string_equal(text, "");
	proc_read_comm(NO_PID, NO_PID, comm);
	assert_string_equal(comm, "");
	buffer_init(&children, 64);
	assert_true(proc_read_children(NO_PID, NO_PID, &children, &err));
	assert_int_equal(children.size, 0);
	assert_false(proc_read_tasks(NO_PID, &tids, &count, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
}

static FILE *file_of(const char *text)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	fputs(text, file);
	rewind(file);
	return file;
}

static void control_groups_are_read(void **state)
{
	CLEANUP(cleanup_fclose) FILE *file = file_of("4:cpu,cpuacct:/a:b\nno group\n1:name=systemd:/c\n0::/d");
	const char *controllers, *path;
	char line[64];

	assert_true(proc_next_cgroup(file, line, sizeof(line), &controllers, &path));
	assert_string_equal(controllers, "cpu,cpuacct");
	assert_string_equal(path, "/a:b");
	assert_true(proc_next_cgroup(file, line, sizeof(line), &controllers, &path));
	assert_string_equal(controllers, "name=systemd");
	assert_true(proc_next_cgroup(file, line, sizeof(line), &controllers, &path));
	assert_string_equal(controllers, "");
	assert_string_equal(path, "/d");
	assert_false(proc_next_cgroup(file, line, sizeof(line), &controllers, &path));
	assert_false(proc_next_cgroup(NULL, line, sizeof(line), &controllers, &path));
}

static void ids_of_other_namespaces_are_left_out(void **state)
{
	CLEANUP(cleanup_fclose) FILE *file = file_of("7\n0\n-3\n9\nx 11\n");
	CLEANUP(buffer_deinit) struct buffer ids = { 0 };
	struct error err = { 0 };
	int32_t read[2];
	char path[64];

	buffer_init(&ids, 64);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_true(proc_read_ids(path, &ids, &err));
	assert_int_equal(ids.size, sizeof(read));
	memcpy(read, ids.data, sizeof(read));
	assert_int_equal(read[0], 7);
	assert_int_equal(read[1], 9);
	buffer_deinit(&ids);
	buffer_init(&ids, sizeof(int32_t));
	assert_false(proc_read_ids(path, &ids, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stat_is_parsed),
		cmocka_unit_test(names_are_no_fields),
		cmocka_unit_test(every_truncation_of_a_stat_is_refused),
		cmocka_unit_test(other_kernels_stats_are_parsed),
		cmocka_unit_test(a_process_is_read_until_it_is_gone),
		cmocka_unit_test(what_is_gone_is_a_value),
		cmocka_unit_test(control_groups_are_read),
		cmocka_unit_test(ids_of_other_namespaces_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
