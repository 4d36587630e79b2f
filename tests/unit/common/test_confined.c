/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A confined child process: what it may do works, and nothing else. */

/* What a child tells of itself, in memory that it shares with the test. */
struct told {
	unsigned int lacks;
	uid_t user;
	bool opens, reads_foreign, makes_socket, forks, executes, traces, maps_code, kills, writes_elsewhere;
	bool works, has_thread, has_too_much;
	bool is_done;
};

struct child {
	struct told *told;
	int output[2], other;
	uint64_t data_bytes;
	void (*work)(struct child *child);
};

static void *mark(void *argument)
{
	*(bool *)argument = true;
	return NULL;
}

static bool fork_works(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static void try_everything(struct child *child)
{
	struct told *told = child->told;
	char byte;
	void *code;

	told->user = geteuid();
	told->opens = open("/etc/passwd", O_RDONLY) >= 0 || open("/proc/self/maps", O_RDONLY) >= 0 ||
		      open("/tmp/kelvin-confined", O_WRONLY | O_CREAT, 0600) >= 0;
	told->reads_foreign = read(child->other, &byte, 1) == 1;
	told->writes_elsewhere = write(STDERR_FILENO, "", 0) == 0;
	told->makes_socket = socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
	told->forks = fork_works();
	/* Where it works, the rest is not tried. */
	if (!(told->lacks & CONFINED_WITHOUT_FILTER))
		told->executes = execl("/bin/true", "true", NULL) == 0 || errno != EPERM;
	told->traces = ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0;
	told->kills = kill(getppid(), 0) == 0;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	told->maps_code = code != MAP_FAILED;
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

/* Returns the status with which the child ended. */
static int run_child(struct child *child)
{
	int status;
	pid_t pid;

	child->told = mmap(NULL, sizeof(*child->told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(child->told, MAP_FAILED);
	assert_int_equal(pipe(child->output), 0);
	child->other = open("/etc/passwd", O_RDONLY);
	assert_true(child->other >= 0);
	pid = confined_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct confinement confinement = { .descriptors = &child->output[1],
			.descriptor_count = 1,
			.output = child->output[1],
			.socket = -1,
			.data_bytes = child->data_bytes };

		child->told->lacks = confined_enter(&confinement);
		child->work(child);
		child->told->is_done = true;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(child->other);
	return status;
}

static void child_end(struct child *child)
{
	close(child->output[0]);
	close(child->output[1]);
	munmap(child->told, sizeof(*child->told));
}

static void everything_else_is_refused(void **state)
{
	struct child child = { .work = try_everything, .data_bytes = (uint64_t)64 << 20 };

	(void)state;
	assert_int_equal(run_child(&child), 0);
	assert_true(child.told->is_done);
	assert_false(child.told->reads_foreign);
	if (child.told->lacks & CONFINED_WITHOUT_FILTER) {
		print_message("system calls are not filtered here\n");
	} else {
		assert_false(child.told->opens);
		assert_false(child.told->makes_socket);
		assert_false(child.told->forks);
		assert_false(child.told->executes);
		assert_false(child.told->traces);
		assert_false(child.told->kills);
		assert_false(child.told->maps_code);
		assert_false(child.told->writes_elsewhere);
	}
	if (!(child.told->lacks & CONFINED_AS_ROOT))
		assert_int_not_equal(child.told->user, 0);
	child_end(&child);
}

static void its_own_work_goes_on(void **state)
{
	struct child child = { .work = use_what_is_left, .data_bytes = (uint64_t)64 << 20 };
	char bytes[5];

	(void)state;
	assert_int_equal(run_child(&child), 0);
	assert_true(child.told->works);
	assert_true(child.told->has_thread);
	assert_int_equal(read(child.output[0], bytes, sizeof(bytes)), sizeof(bytes));
	child_end(&child);
}

static void memory_ends_at_its_limit(void **state)
{
	struct child child = { .work = take_memory, .data_bytes = (uint64_t)32 << 20 };

	(void)state;
	assert_int_equal(run_child(&child), 0);
	/* A sanitizer's own memory has no limit. */
	assert_true(!child.told->has_too_much || (child.told->lacks & CONFINED_WITHOUT_FILTER));
	child_end(&child);
}

/* A terminal sends its signals to all processes of the group. */
static void signals_are_its_parents(void **state)
{
	int status;
	pid_t pid = confined_fork();

	(void)state;
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
	pid_t pid = confined_fork();
	int64_t used_ns = 0;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		burn();
	while (used_ns >= 0 && used_ns < 1000000)
		used_ns = confined_cpu_ns(pid);
	assert_true(used_ns >= 1000000);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_is_missing_here_is_known(void **state)
{
	(void)state;
	assert_int_equal(confined_probe() & ~(unsigned int)(CONFINED_WITHOUT_FILTER | CONFINED_AS_ROOT), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_else_is_refused),
		cmocka_unit_test(its_own_work_goes_on),
		cmocka_unit_test(memory_ends_at_its_limit),
		cmocka_unit_test(signals_are_its_parents),
		cmocka_unit_test(its_cpu_time_is_known),
		cmocka_unit_test(what_is_missing_here_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
