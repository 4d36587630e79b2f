/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Work that may never end: it is given up when it is late, and costs a bounded time. */

static const int64_t ms = 1000000, brief_ns = 20000000, long_ns = 10000000000;
static const struct deadline_limits tight = { .owner_ns = 30000000, .all_ns = 90000000, .forgiveness = 1000000 };
static const struct deadline_limits roomy = { 60000000000, 60000000000, 1000 };
/* The calls of the jobs here. */
static const struct filter_rule rules[] = {
	{ SYS_openat, 1, { { 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY } } },
	{ SYS_read, 0, { { 0 } } },
	{ SYS_fstat, 0, { { 0 } } },
	{ SYS_newfstatat, 0, { { 0 } } },
	{ SYS_pause, 0, { { 0 } } },
	{ SYS_process_vm_readv, 0, { { 0 } } },
};
static const struct deadline_rights rights = { .capabilities = RIGHTS_CAPABILITY(CAP_SYS_PTRACE),
	.calls = FILTER_SET(rules) };

static struct deadline *create(const struct deadline_limits *limits)
{
	struct deadline *deadline;
	struct error err;

	assert_true(deadline_create(limits, &rights, &deadline, &err));
	return deadline;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 * ms + now.tv_nsec;
}

static int double_number(void *room)
{
	*(int *)room *= 2;
	return -1;
}

static _Noreturn int never_end(void *room)
{
	for (;;)
		pause();
}

static int crash(void *room)
{
	kill(getpid(), SIGKILL);
	return -1;
}

static int open_path(void *room)
{
	return open(room, O_RDONLY | O_CLOEXEC);
}

static void expect_works(struct deadline *deadline, uint64_t owner)
{
	int *room = deadline_room(deadline), fd;

	assert_non_null(room);
	*room = 21;
	assert_int_equal(deadline_run(deadline, owner, long_ns, double_number, &fd), DEADLINE_DONE);
	assert_int_equal(*room, 42);
	assert_int_equal(fd, -1);
}

static void expect_end(struct deadline *deadline, uint64_t owner, int (*job)(void *room), enum deadline_end end)
{
	int fd;

	(void)deadline_room(deadline);
	assert_int_equal(deadline_run(deadline, owner, brief_ns, job, &fd), end);
}

static void a_job_shares_its_room(void **state)
{
	struct deadline *deadline = create(&roomy);

	for (int i = 0; i < 100; i++)
		expect_works(deadline, 1);
	deadline_destroy(deadline);
	deadline_destroy(NULL);
}

static void a_descriptor_is_handed_over(void **state)
{
	struct deadline *deadline = create(&roomy);
	char bytes[4] = "";
	int fd;

	strcpy(deadline_room(deadline), "/proc/self/exe");
	assert_int_equal(deadline_run(deadline, 1, long_ns, open_path, &fd), DEADLINE_DONE);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_memory_equal(bytes, "\177ELF", sizeof(bytes));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	strcpy(deadline_room(deadline), "/proc/self/nothing");
	assert_int_equal(deadline_run(deadline, 1, long_ns, open_path, &fd), DEADLINE_DONE);
	assert_int_equal(fd, -1);
	deadline_destroy(deadline);
}

static void a_late_job_is_given_up(void **state)
{
	struct deadline *deadline = create(&roomy);
	int64_t began_ns = now_ns();

	expect_end(deadline, 1, never_end, DEADLINE_LATE);
	assert_true(now_ns() - began_ns >= brief_ns);
	expect_works(deadline, 2);
	deadline_destroy(deadline);
}

/* A job that never waits in the kernel is as one that waits for a CPU: it may take longer than a job may wait. */
static int run_for_long(void *room)
{
	int64_t end_ns = now_ns() + 10 * brief_ns;

	while (now_ns() < end_ns)
		;
	return -1;
}

static void a_job_that_runs_is_not_late(void **state)
{
	struct deadline *deadline = create(&roomy);
	int fd;

	expect_works(deadline, 1);
	(void)deadline_room(deadline);
	assert_int_equal(deadline_run(deadline, 1, 5 * brief_ns, run_for_long, &fd), DEADLINE_DONE);
	deadline_destroy(deadline);
}

static void a_crash_is_a_late_job(void **state)
{
	struct deadline *deadline = create(&roomy);

	expect_end(deadline, 1, crash, DEADLINE_LATE);
	expect_works(deadline, 1);
	deadline_destroy(deadline);
}

/* How many jobs of an owner are late before one is refused. */
static int count_late(struct deadline *deadline, uint64_t owner)
{
	int fd, late = 0;

	while (late < 10 && deadline_run(deadline, owner, brief_ns, never_end, &fd) == DEADLINE_LATE)
		late++;
	return late;
}

static void debts_are_bounded(void **state)
{
	struct deadline *deadline = create(&tight);

	assert_int_equal(count_late(deadline, 1), 2);
	expect_end(deadline, 1, double_number, DEADLINE_REFUSED);
	expect_works(deadline, 2);
	assert_int_equal(count_late(deadline, 2), 2);
	assert_int_equal(count_late(deadline, 3), 1);
	expect_end(deadline, 4, double_number, DEADLINE_REFUSED);
	deadline_destroy(deadline);
}

static void debts_are_forgiven(void **state)
{
	static const struct deadline_limits lenient = { .owner_ns = 1, .all_ns = 1, .forgiveness = 4 };
	struct deadline *deadline;
	struct error err;
	int64_t began_ns = now_ns();
	int fd;

	assert_true(deadline_create(&lenient, &rights, &deadline, &err));
	expect_end(deadline, 1, never_end, DEADLINE_LATE);
	expect_end(deadline, 1, double_number, DEADLINE_REFUSED);
	while (deadline_run(deadline, 1, long_ns, double_number, &fd) == DEADLINE_REFUSED &&
		now_ns() - began_ns < long_ns)
		usleep(1000);
	expect_works(deadline, 1);
	deadline_destroy(deadline);
}

/* ---- Memory that never arrives ---- */

/* A page that is registered with userfaultfd(2), whose faults nobody handles; MAP_FAILED if that is not permitted. */
static void *map_missing_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	range.range.start = (uint64_t)(uintptr_t)page;
	range.range.len = size;
	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0 ? page
												      : MAP_FAILED;
}

struct memory_request {
	pid_t pid;
	void *address;
	ssize_t got;
};

static int read_memory(void *room)
{
	struct memory_request *request = room;
	char byte;
	const struct iovec here = { &byte, 1 }, there = { request->address, 1 };

	request->got = process_vm_readv(request->pid, &here, 1, &there, 1, 0);
	return -1;
}

static pid_t start_holder(void **page)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		void *mine = map_missing_page();

		(void)!write(ends[1], &mine, sizeof(mine));
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], page, sizeof(*page)), sizeof(*page));
	close(ends[0]);
	return pid;
}

static void memory_that_never_arrives(void **state)
{
	struct deadline *deadline = create(&roomy);
	struct memory_request *request;
	void *page;
	pid_t holder = start_holder(&page);
	int byte;

	if (page == MAP_FAILED) {
		kill(holder, SIGKILL);
		deadline_destroy(deadline);
		skip();
	}
	request = deadline_room(deadline);
	*request = (struct memory_request){ holder, &byte, 0 };
	expect_end(deadline, 1, read_memory, DEADLINE_DONE);
	request = deadline_room(deadline);
	*request = (struct memory_request){ holder, page, 0 };
	expect_end(deadline, 1, read_memory, DEADLINE_LATE);
	expect_works(deadline, 2);
	deadline_destroy(deadline);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
}

/* A program that exits while its helper is stuck, without destroying anything. */
static void nobody_waits_for_a_stuck_job_at_exit(void **state)
{
	int ends[2];
	pid_t program;
	char byte;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	program = fork();
	if (program == 0) {
		struct deadline *deadline = create(&roomy);
		int fd;

		(void)!deadline_run(deadline, 1, brief_ns, never_end, &fd);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(program, NULL, 0), program);
	/* The helper did not keep the pipe open. */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	/* The keeper and the helper are our children now, and they end without being told. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(errno, ECHILD);
}

/* ---- Jobs that were taken over ---- */

static int run_program(void *room)
{
	return execl("/bin/true", "true", NULL);
}

static int start_process(void *room)
{
	*(int *)room = (int)fork();
	if (*(int *)room == 0)
		_exit(0);
	return -1;
}

static int make_socket(void *room)
{
	return *(int *)room = socket(AF_INET, SOCK_STREAM, 0);
}

static int end_other(void *room)
{
	*(int *)room = kill(*(int *)room, SIGKILL);
	return -1;
}

static int remove_file(void *room)
{
	*(int *)room = unlink(room);
	return -1;
}

static int write_memory(void *room)
{
	struct memory_request *request = room;
	char byte = 1;
	const struct iovec here = { &byte, 1 }, there = { request->address, 1 };

	request->got = process_vm_writev(request->pid, &here, 1, &there, 1, 0);
	return -1;
}

static int open_to_write(void *room)
{
	return open(room, O_WRONLY);
}

static int map_code(void *room)
{
	*(int *)room = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
	return -1;
}

static int write_elsewhere(void *room)
{
	*(int *)room = (int)write(STDOUT_FILENO, "", 1);
	return -1;
}

static void what_no_job_does_ends_the_helper(void **state)
{
	static int (*const attacks[])(
		void *) = { run_program, start_process, make_socket, end_other, remove_file, write_memory };

	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		struct deadline *deadline = create(&roomy);
		struct memory_request *request;

		expect_works(deadline, 1);
		if (deadline_rights_left(deadline) & RIGHTS_LEFT_CALLS) {
			deadline_destroy(deadline);
			skip();
		}
		request = deadline_room(deadline);
		*request = (struct memory_request){ getpid(), request, 0 };
		expect_end(deadline, 1, attacks[i], DEADLINE_LATE);
		expect_works(deadline, 1);
		assert_int_equal(deadline_rights_left(deadline), 0);
		deadline_destroy(deadline);
	}
}

static void the_rest_fails(void **state)
{
	static const char own[] = "/dev/null";
	struct deadline *deadline = create(&roomy);
	int fd;

	expect_works(deadline, 1);
	if (!(deadline_rights_left(deadline) & RIGHTS_LEFT_CALLS)) {
		strcpy(deadline_room(deadline), own);
		assert_int_equal(deadline_run(deadline, 1, long_ns, open_path, &fd), DEADLINE_DONE);
		assert_true(fd >= 0);
		close(fd);
		strcpy(deadline_room(deadline), own);
		assert_int_equal(deadline_run(deadline, 1, long_ns, open_to_write, &fd), DEADLINE_DONE);
		assert_int_equal(fd, -1);
		assert_int_equal(deadline_run(deadline, 1, long_ns, map_code, &fd), DEADLINE_DONE);
		assert_int_equal(*(int *)deadline_room(deadline), 0);
		assert_int_equal(deadline_run(deadline, 1, long_ns, write_elsewhere, &fd), DEADLINE_DONE);
		assert_int_equal(*(int *)deadline_room(deadline), -1);
	}
	deadline_destroy(deadline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_shares_its_room),
		cmocka_unit_test(a_descriptor_is_handed_over),
		cmocka_unit_test(a_late_job_is_given_up),
		cmocka_unit_test(a_job_that_runs_is_not_late),
		cmocka_unit_test(a_crash_is_a_late_job),
		cmocka_unit_test(debts_are_bounded),
		cmocka_unit_test(debts_are_forgiven),
		cmocka_unit_test(memory_that_never_arrives),
		cmocka_unit_test(what_no_job_does_ends_the_helper),
		cmocka_unit_test(the_rest_fails),
		cmocka_unit_test(nobody_waits_for_a_stuck_job_at_exit),
	};

	return cmocka_run_group_tests_name("common.deadline", tests, NULL, NULL);
}
