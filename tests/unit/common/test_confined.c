/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A confined child process: what it may do works, and nothing else. */

/* What a child tells of itself, in memory that it shares with the test. */
struct told {
	unsigned int lacks;
	pid_t number; /* in its process namespace */
	bool works, has_thread, has_too_much;
	bool has_worked; /* what is to be refused */
	bool is_done;
};

struct child {
	struct told *told;
	int output[2], other;
	pid_t test;
	uint64_t data_bytes;
	void (*work)(struct child *child);
	bool (*call)(const struct child *child);
};

static void enter(struct child *child, pid_t between)
{
	const struct filter_rule writes = FILTER_IF(write, 0, UINT32_MAX, (uint64_t)child->output[1]);
	const struct child_limit limits[] = { { RLIMIT_DATA, child->data_bytes, true }, { RLIMIT_FSIZE, 0, false } };
	const struct confinement confinement = { .descriptors = &child->output[1],
		.descriptor_count = 1,
		.user = CONFINED_NOBODY,
		.id = rights_user(between),
		.leaves_file_systems = true,
		.more_calls = { { &writes, 1 } },
		.limits = limits,
		.limit_count = sizeof(limits) / sizeof(limits[0]) };

	child->told->lacks |= confined_lacks(confined_enter(&confinement));
	child->work(child);
	child->told->is_done = true;
	_exit(0);
}

/* The process between the test and the child ends as the child does. */
static _Noreturn void run_between(struct child *child)
{
	pid_t between = getpid(), pid;
	int status = 0;

	child->told->lacks = confined_lacks(confined_separate());
	pid = child_fork(CHILD_IS_QUIET);
	if (pid == 0)
		enter(child, between);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(1);
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Returns the status with which the child ended, as a shell shows it. */
static int run_child(struct child *child)
{
	int status;
	pid_t pid;

	child->told = mmap(NULL, sizeof(*child->told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(child->told, MAP_FAILED);
	assert_int_equal(pipe(child->output), 0);
	child->other = open("/etc/passwd", O_RDONLY);
	assert_true(child->other >= 0);
	child->test = getpid();
	pid = child_fork(CHILD_IS_QUIET);
	assert_true(pid >= 0);
	if (pid == 0)
		run_between(child);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	close(child->other);
	return WEXITSTATUS(status);
}

static void tear_down(struct child *child)
{
	close(child->output[0]);
	close(child->output[1]);
	munmap(child->told, sizeof(*child->told));
}

/* ---- What it may not do ---- */

static bool opens_a_file(const struct child *child)
{
	return open("/etc/passwd", O_RDONLY) >= 0 || open("/proc/self/maps", O_RDONLY) >= 0 ||
	       open("/tmp/kelvin-confined", O_WRONLY | O_CREAT, 0600) >= 0 || open("..", O_RDONLY) >= 0;
}

static bool reads_what_it_had(const struct child *child)
{
	char byte;

	return read(child->other, &byte, 1) == 1;
}

static bool writes_elsewhere(const struct child *child)
{
	return write(STDOUT_FILENO, "", 0) == 0;
}

static bool makes_code(const struct child *child)
{
	void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	       mprotect(data, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool moves_memory_to_a_place(const struct child *child)
{
	void *from = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mremap(from, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)from + ((size_t)1 << 20)) != MAP_FAILED;
}

static bool merges_its_pages(const struct child *child)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return madvise(page, 4096, MADV_MERGEABLE) == 0 || madvise(page, 4096, MADV_HUGEPAGE) == 0 ||
	       madvise(page, 4096, MADV_DODUMP) == 0;
}

static bool raises_its_limits(const struct child *child)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_DATA, &limit) == 0;
}

static bool makes_a_process(const struct child *child)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0;
}

static bool makes_a_socket(const struct child *child)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool makes_a_socket_pair(const struct child *child)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}

static bool executes(const struct child *child)
{
	(void)execl("/bin/true", "true", NULL);
	return false;
}

static bool forks(const struct child *child)
{
	return syscall(SYS_fork) >= 0;
}

static bool signals(const struct child *child)
{
	return kill(child->test, 0) == 0;
}

static bool traces(const struct child *child)
{
	return ptrace(PTRACE_ATTACH, child->test, NULL, NULL) == 0;
}

static bool reads_others_memory(const struct child *child)
{
	char byte;
	struct iovec into = { &byte, 1 }, from = { &byte, 1 };

	return process_vm_readv(child->test, &into, 1, &from, 1, 0) == 1;
}

static bool enters_a_namespace(const struct child *child)
{
	return unshare(CLONE_NEWUSER) == 0;
}

static bool mounts(const struct child *child)
{
	return mount("none", "/", "tmpfs", 0, NULL) == 0;
}

static bool becomes_another_user(const struct child *child)
{
	return setresuid(0, 0, 0) == 0;
}

static bool opens_a_performance_counter(const struct child *child)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) >= 0;
}

static bool loads_a_program_of_bpf(const struct child *child)
{
	return syscall(SYS_bpf, 0, NULL, 0) >= 0;
}

static bool starts_a_ring(const struct child *child)
{
	return syscall(SYS_io_uring_setup, 1, NULL) >= 0;
}

static bool takes_a_key(const struct child *child)
{
	return syscall(SYS_keyctl, 0, 0, 0, 0, 0) >= 0;
}

static const struct forbidden {
	const char *what;
	bool (*call)(const struct child *child);
	bool kills; /* no reader does that: there is no second try */
} forbidden[] = {
	{ "opens a file", opens_a_file, false },
	{ "reads a descriptor of its parent", reads_what_it_had, false },
	{ "writes elsewhere", writes_elsewhere, false },
	{ "makes code", makes_code, false },
	{ "moves memory to a place", moves_memory_to_a_place, false },
	{ "merges its pages with others", merges_its_pages, false },
	{ "raises its limits", raises_its_limits, false },
	{ "makes a process", makes_a_process, true },
	{ "makes a socket", makes_a_socket, true },
	{ "makes a pair of sockets", makes_a_socket_pair, true },
	{ "executes a program", executes, true },
	{ "forks", forks, true },
	{ "signals another process", signals, true },
	{ "traces another process", traces, true },
	{ "reads another process's memory", reads_others_memory, true },
	{ "enters a namespace", enters_a_namespace, true },
	{ "mounts a file system", mounts, true },
	{ "becomes another user", becomes_another_user, true },
	{ "opens a performance counter", opens_a_performance_counter, true },
	{ "loads a program of BPF", loads_a_program_of_bpf, true },
	{ "starts a ring of requests", starts_a_ring, true },
	{ "takes a key", takes_a_key, true },
};

static void call_once(struct child *child)
{
	child->told->has_worked = child->call(child);
}

/* What the first call does to the process would hide the others: each has a process of its own. */
static void everything_else_is_refused(void **state)
{
	enum { KILLED = 128 + SIGSYS };

	if (confined_probe() & CONFINED_WITHOUT_FILTER) {
		print_message("system calls are not filtered here\n");
		return;
	}
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		struct child child = { .work = call_once, .call = forbidden[i].call, .data_bytes = (uint64_t)64 << 20 };
		int status = run_child(&child);

		if (child.told->has_worked || status != (forbidden[i].kills ? KILLED : 0))
			fail_msg("it %s: status %d", forbidden[i].what, status);
		tear_down(&child);
	}
}

/* ---- Who and where it is ---- */

static void tell_identity(struct child *child)
{
	child->told->number = getpid();
}

static void it_sees_no_other_process(void **state)
{
	struct child child = { .work = tell_identity, .data_bytes = (uint64_t)64 << 20 };

	assert_int_equal(run_child(&child), 0);
	assert_true(child.told->is_done);
	if (!(child.told->lacks & CONFINED_WITHOUT_PID_NAMESPACE))
		assert_int_equal(child.told->number, 1);
	tear_down(&child);
}

/* A daemon's processes may signal those of the same user. */
static void its_user_has_no_other_process(void **state)
{
	char line[128] = "", path[64];
	int release[2], ready[2];
	FILE *status;
	pid_t pid;

	if (geteuid() != 0 || (confined_probe() & CONFINED_WITHOUT_USER))
		return;
	assert_int_equal(pipe(release), 0);
	assert_int_equal(pipe(ready), 0);
	pid = child_fork(CHILD_IS_QUIET);
	assert_true(pid >= 0);
	if (pid == 0) {
		const int kept[] = { release[0], ready[1] };
		const struct filter_rule writes = FILTER_IF(write, 0, UINT32_MAX, (uint64_t)ready[1]);
		const struct confinement confinement = { .descriptors = kept,
			.descriptor_count = 2,
			.user = CONFINED_NOBODY,
			.leaves_file_systems = true,
			.more_calls = { { &writes, 1 } } };

		(void)confined_enter(&confinement);
		_exit(write(ready[1], "", 1) == 1 && read(release[0], line, 1) >= 0 ? 0 : 1);
	}
	assert_int_equal(read(ready[0], line, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status) && strncmp(line, "Uid:", 4) != 0)
		;
	fclose(status);
	assert_true(strtoul(line + 4, NULL, 10) == rights_user(pid) || strtoul(line + 4, NULL, 10) >= 65520);
	assert_int_not_equal(strtoul(line + 4, NULL, 10), 65534);
	close(release[0]);
	close(release[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

/* ---- What it may do ---- */

static void *mark(void *argument)
{
	*(bool *)argument = true;
	return NULL;
}

static void use_what_is_left(struct child *child)
{
	char *memory = malloc((size_t)8 << 20);
	pthread_t thread;

	memset(memory, 1, (size_t)8 << 20);
	child->told->works = write(child->output[1], memory, 5) == 5;
	free(memory);
	if (pthread_create(&thread, NULL, mark, &child->told->has_thread) == 0)
		pthread_join(thread, NULL);
}

static void take_memory(struct child *child)
{
	void *memory = malloc(child->data_bytes + ((size_t)1 << 20));

	child->told->has_too_much = memory != NULL;
	if (memory)
		memset(memory, 1, child->data_bytes);
	free(memory);
}

static void its_own_work_goes_on(void **state)
{
	struct child child = { .work = use_what_is_left, .data_bytes = (uint64_t)64 << 20 };
	char bytes[5];

	assert_int_equal(run_child(&child), 0);
	assert_true(child.told->works);
	assert_true(child.told->has_thread);
	assert_int_equal(read(child.output[0], bytes, sizeof(bytes)), sizeof(bytes));
	tear_down(&child);
}

static void memory_ends_at_its_limit(void **state)
{
	struct child child = { .work = take_memory, .data_bytes = (uint64_t)32 << 20 };

	assert_int_equal(run_child(&child), 0);
	/* A sanitizer's own memory has no limit. */
	assert_true(!child.told->has_too_much || (child.told->lacks & CONFINED_WITHOUT_FILTER));
	tear_down(&child);
}

/* A terminal sends its signals to all processes of the group. */
static void signals_are_its_parents(void **state)
{
	int status;
	pid_t pid = child_fork(CHILD_IS_QUIET);

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(raise(SIGINT) == 0 && raise(SIGTERM) == 0 && raise(SIGHUP) == 0 ? 7 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void burn(void)
{
	volatile uint64_t turns = 0;

	while (turns < UINT64_MAX)
		turns++;
}

static void its_cpu_time_is_known(void **state)
{
	pid_t pid = child_fork(CHILD_IS_QUIET);
	int64_t used_ns = 0;

	assert_true(pid >= 0);
	if (pid == 0)
		burn();
	while (used_ns >= 0 && used_ns < 1000000)
		used_ns = child_cpu_ns(pid);
	assert_true(used_ns >= 1000000);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_is_missing_here_is_known(void **state)
{
	assert_int_equal(confined_probe() & ~(unsigned int)CONFINED_WITHOUT_ANY, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void what_is_missing_has_a_name(void **state)
{
	char text[256];

	confined_describe(0, text, sizeof(text));
	assert_string_equal(text, "");
	confined_describe(CONFINED_WITHOUT_FILTER | CONFINED_WITHOUT_LANDLOCK, text, sizeof(text));
	assert_string_equal(text, "a system call filter (seccomp), rules for files (Landlock)");
	confined_describe(CONFINED_WITHOUT_ANY, text, sizeof(text));
	assert_true(strlen(text) + 1 < sizeof(text));
	confined_describe(CONFINED_WITHOUT_ANY, text, 8);
	assert_int_equal(strlen(text), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_else_is_refused),
		cmocka_unit_test(it_sees_no_other_process),
		cmocka_unit_test(its_user_has_no_other_process),
		cmocka_unit_test(its_own_work_goes_on),
		cmocka_unit_test(memory_ends_at_its_limit),
		cmocka_unit_test(signals_are_its_parents),
		cmocka_unit_test(its_cpu_time_is_known),
		cmocka_unit_test(what_is_missing_here_is_known),
		cmocka_unit_test(what_is_missing_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
