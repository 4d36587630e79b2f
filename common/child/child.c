/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/child.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t ns_per_s = 1000000000, ns_per_ms = 1000000;

/* ---- The beginning ---- */

static void child_begin(unsigned int how, pid_t parent)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	if (how & CHILD_LEADS_GROUP)
		(void)setpgid(0, 0);
	for (size_t i = 0; how & CHILD_IGNORES_SIGNALS && i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	if (how & CHILD_ENDS_WITH_PARENT)
		child_end_with(parent);
}

pid_t child_fork(unsigned int how)
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;
	int failure;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = fork();
	failure = errno;
	if (pid == 0)
		child_begin(how, parent);
	else if (pid > 0 && how & CHILD_LEADS_GROUP)
		(void)setpgid(pid, pid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = failure;
	return pid;
}

pid_t child_fork_linked(unsigned int how, enum child_link link, int *end)
{
	int ends[2], type = (link == CHILD_STREAM ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC, failure;
	pid_t pid;

	if ((link == CHILD_PIPE ? pipe2(ends, O_CLOEXEC) : socketpair(AF_UNIX, type, 0, ends)) != 0)
		return -1;
	pid = child_fork(how);
	failure = errno;
	close(ends[pid == 0 ? 0 : 1]);
	if (pid < 0)
		close(ends[0]);
	else
		*end = ends[pid == 0 ? 1 : 0];
	errno = failure;
	return pid;
}

/* ---- Limits ---- */

/* A process that cannot ask what it has mapped has no more than it may take. */
static bool child_find_most(const struct child_limit *limit, const struct proc_memory *has, rlim_t *most)
{
	uint64_t own = !limit->is_in_addition ? 0 : limit->resource == RLIMIT_DATA ? has->data : has->mapped;

	*most = own + limit->most;
	return !limit->is_in_addition || !child_is_sanitized() || (own > 0 && limit->resource != RLIMIT_DATA);
}

void child_limit(const struct child_limit *limits, size_t count)
{
	struct proc_memory has = { 0 };

	for (size_t i = 0; i < count; i++)
		if (limits[i].is_in_addition)
			has = proc_own_memory();
	for (size_t i = 0; i < count; i++) {
		struct rlimit now;
		rlim_t most;

		if (!child_find_most(&limits[i], &has, &most) || getrlimit(limits[i].resource, &now) != 0)
			continue;
		now.rlim_cur = now.rlim_cur < most ? now.rlim_cur : most;
		if (limits[i].resource != RLIMIT_DATA)
			now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
		(void)setrlimit(limits[i].resource, &now);
	}
}

void child_raise_memory(pid_t pid, uint64_t bytes)
{
	struct rlimit limit;

	if (child_is_sanitized() || prlimit(pid, RLIMIT_DATA, NULL, &limit) != 0)
		return;
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	(void)prlimit(pid, RLIMIT_DATA, &limit, NULL);
}

/* ---- Its answer ---- */

int64_t child_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return used.tv_sec * ns_per_s + used.tv_nsec;
}

/* How long a child has done nothing. */
struct child_stillness {
	int64_t cpu_ns;
	unsigned int ticks;
};

static bool child_is_stuck(pid_t pid, const struct child_patience *patience, struct child_stillness *still)
{
	int64_t cpu_ns;

	if (patience->most_still_ticks == 0)
		return false;
	cpu_ns = child_cpu_ns(pid);
	if (cpu_ns != still->cpu_ns || (patience->waits_for_disks && proc_thread_state(pid, pid) != 'S'))
		*still = (struct child_stillness){ .cpu_ns = cpu_ns };
	else
		still->ticks++;
	return still->ticks > patience->most_still_ticks;
}

enum child_ending child_listen(pid_t pid, int end, const struct child_patience *patience, struct buffer *answer)
{
	enum { BLOCK_BYTES = 1 << 16 };
	struct child_stillness still = { .cpu_ns = -1 };
	size_t left = patience->most_bytes;

	while (left > 0) {
		struct pollfd ready = { .fd = end, .events = POLLIN };
		int64_t left_ms = (patience->deadline_ns - clock_read_ns(CLOCK_MONOTONIC)) / ns_per_ms;
		size_t block = left < BLOCK_BYTES ? left : BLOCK_BYTES;
		ssize_t got;
		char *room;

		if (left_ms <= 0)
			return CHILD_LATE;
		if (patience->is_stopped && patience->is_stopped())
			return CHILD_STOPPED;
		if (poll(&ready, 1, left_ms < CHILD_TICK_MS ? (int)left_ms : CHILD_TICK_MS) <= 0) {
			if (child_is_stuck(pid, patience, &still))
				return CHILD_STUCK;
			continue;
		}
		room = buffer_reserve(answer, block);
		if (!room)
			return CHILD_NO_MEMORY;
		got = read(end, room, block);
		if (got == 0 || (got < 0 && errno != EINTR))
			return CHILD_ANSWERED;
		buffer_commit(answer, got > 0 ? (size_t)got : 0);
		left -= got > 0 ? (size_t)got : 0;
	}
	return CHILD_TOO_LONG;
}

/* ---- Its end ---- */

int child_reap(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

bool child_has_ended(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) != 0;
}

void child_end(pid_t pid)
{
	static const long longest_ns = 500000000; /* pauses double up to it: 1 s in all */
	struct timespec pause = { .tv_nsec = 20000 };

	(void)kill(pid, SIGKILL);
	while (!child_has_ended(pid, NULL) && pause.tv_nsec < longest_ns) {
		(void)nanosleep(&pause, NULL);
		pause.tv_nsec *= 2;
	}
}

/* ---- The calling process ---- */

void child_end_with(pid_t parent)
{
	static const struct memory_end silent = { .exit_code = 1, .is_silent = true };
	pid_t now;

	memory_set_end(&silent);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	now = getppid();
	if (now != parent && now != 0)
		_exit(1);
}

bool child_take_streams(const int streams[CHILD_STREAMS])
{
	for (int fd = 0; fd < CHILD_STREAMS; fd++)
		if (streams[fd] >= 0 && dup2(streams[fd], fd) < 0)
			return false;
	return true;
}

static bool child_write_text(const char *path, const char *text)
{
	CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && file_write_all(fd, text, strlen(text));
}

bool child_enter_user_namespace(int more)
{
	unsigned int user = geteuid(), group = getegid();
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", user, user);
	snprintf(groups, sizeof(groups), "%u %u 1", group, group);
	return unshare(CLONE_NEWUSER | more) == 0 && child_write_text("/proc/self/setgroups", "deny") &&
	       child_write_text("/proc/self/uid_map", users) && child_write_text("/proc/self/gid_map", groups);
}

/* There may be none. A kernel before Linux 5.9 closes the first 65,536. */
static void child_close_between(unsigned int first, unsigned int last)
{
	enum { MOST_CLOSED_SINGLY = 1 << 16 };

	if (first > last || close_range(first, last, 0) == 0)
		return;
	for (unsigned int fd = first; fd <= last && fd < MOST_CLOSED_SINGLY; fd++)
		(void)close((int)fd);
}

static int child_compare_descriptors(const void *left, const void *right)
{
	const int *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void child_keep(const int *descriptors, size_t count)
{
	int *sorted = malloc((count + 1) * sizeof(*sorted));
	unsigned int next = 0;

	if (!sorted)
		_exit(1);
	for (size_t i = 0; i < count; i++)
		sorted[i] = descriptors[i];
	/* A sanitizer writes what it finds in the process to standard error, which has to be read somewhere. */
	if (child_is_sanitized())
		sorted[count++] = STDERR_FILENO;
	qsort(sorted, count, sizeof(*sorted), child_compare_descriptors);
	for (size_t i = 0; i < count; i++) {
		if (sorted[i] < 0 || (unsigned int)sorted[i] < next)
			continue;
		if (sorted[i] > 0)
			child_close_between(next, (unsigned int)sorted[i] - 1);
		next = (unsigned int)sorted[i] + 1;
	}
	child_close_between(next, ~0U);
	free(sorted);
}

#if defined(__SANITIZE_ADDRESS__)
#define CHILD_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define CHILD_IS_SANITIZED true
#endif
#endif
#ifndef CHILD_IS_SANITIZED
#define CHILD_IS_SANITIZED false
#endif

bool child_is_sanitized(void)
{
	return CHILD_IS_SANITIZED;
}

unsigned int child_slowdown(void)
{
	enum { SANITIZED = 16 };

	return child_is_sanitized() ? SANITIZED : 1;
}
