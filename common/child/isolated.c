/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/isolated.h"

#include "common/child/child.h"
#include "common/child/confined.h"
#include "common/child/filter.h"
#include "common/child/rights.h"
#include "common/clock.h"
#include "common/proc.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t ns_per_s = 1000000000;
static const long poll_ns = 1000000;

/* Lowers a limit, unless it is lower already. */
static void lower_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0 || limit.rlim_cur <= value)
		return;
	limit.rlim_cur = value;
	(void)setrlimit(resource, &limit);
}

/* Sets the child's limits. A crash of the library must not leave a core file. */
static void limit_child(const struct isolated_limits *limits, pid_t parent)
{
	uint64_t mapped = proc_own_memory().mapped;

	child_end_with(parent);
	lower_limit(RLIMIT_CORE, 0);
	lower_limit(RLIMIT_CPU, limits->seconds);
	/* A process that cannot ask what it has mapped has no more than it may take. */
	if (mapped == 0 && confined_slowdown() == 1)
		mapped = limits->memory_bytes;
	if (mapped > 0)
		lower_limit(RLIMIT_AS, mapped + limits->memory_bytes);
}

/* It writes nowhere but to the memory that it shares with its parent. */
static bool isolated_refuse_calls(const struct isolated_limits *limits)
{
	static const struct filter_rule opens[] = { FILTER_OPENS };

	return filter_enter_working(opens, limits->reads_files ? sizeof(opens) / sizeof(opens[0]) : 0);
}

static void isolated_give_up_rights(const struct isolated_limits *limits, pid_t parent)
{
	unsigned int left;

	confined_keep(limits->descriptors, limits->descriptor_count);
	left = rights_give_up(limits->reads_files);
	/* The change of user has cleared it. */
	child_end_with(parent);
	left |= isolated_refuse_calls(limits) ? 0 : RIGHTS_LEFT_CALLS;
	/* All readers lack what a machine does not allow: `kelvin doctor` tells. */
	(void)left;
}

static bool make_result(struct isolated *isolated, size_t bytes, struct error *err)
{
	void *result = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (result == MAP_FAILED)
		return error_set_memory(err);
	isolated_deinit(isolated);
	isolated->result = result;
	isolated->result_bytes = bytes;
	return true;
}

bool isolated_start(struct isolated *isolated, const struct isolated_limits *limits, size_t result_bytes,
	void (*work)(void *context, void *result), void *context, struct error *err)
{
	pid_t parent = getpid(), pid;

	if (!make_result(isolated, result_bytes, err))
		return false;
	pid = fork();
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start a process");
	if (pid == 0) {
		limit_child(limits, parent);
		if (!limits->is_confined)
			isolated_give_up_rights(limits, parent);
		work(context, isolated->result);
		_exit(0);
	}
	isolated->pid = pid;
	isolated->deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + limits->seconds * ns_per_s;
	return true;
}

/* Collects the exit status of the child; false while it runs. */
static bool isolated_reap(struct isolated *isolated, int options)
{
	pid_t ended;

	do {
		ended = waitpid(isolated->pid, NULL, options);
	} while (ended < 0 && errno == EINTR);
	if (ended == 0)
		return false;
	isolated->pid = 0;
	return true;
}

bool isolated_has_ended(struct isolated *isolated)
{
	if (isolated->pid == 0 || isolated_reap(isolated, WNOHANG))
		return true;
	if (clock_read_ns(CLOCK_MONOTONIC) < isolated->deadline_ns)
		return false;
	(void)kill(isolated->pid, SIGKILL);
	return isolated_reap(isolated, 0);
}

void isolated_wait(struct isolated *isolated)
{
	const struct timespec pause = { .tv_nsec = poll_ns };

	while (!isolated_has_ended(isolated))
		(void)nanosleep(&pause, NULL);
}

void isolated_deinit(struct isolated *isolated)
{
	if (isolated->pid != 0) {
		(void)kill(isolated->pid, SIGKILL);
		(void)isolated_reap(isolated, 0);
	}
	if (isolated->result)
		munmap(isolated->result, isolated->result_bytes);
	*isolated = (struct isolated){ 0 };
}
