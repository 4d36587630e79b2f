/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/priority.h"

#include "common/common.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

/* The priority of the reading thread: at nice -10 a thread gets a quarter of a CPU beside 32 busy threads of nice 0. */
enum { USUAL_NICE = 0, HIGHEST_NICE = -20, HURRIED_NICE = -10, LOWEST_REAL_TIME = 1 };
static const long hurry_ns = 100000000;

/* The share of a CPU that the increased priority is for, and how much of it is saved up. */
enum { SHARE = 2 };
static const int64_t most_saved_ns = 2000000000;

static bool set_policy(int policy, int priority)
{
	const struct sched_param parameter = { .sched_priority = priority };

	return sched_setscheduler(0, policy, &parameter) == 0;
}

void priority_raise(struct priority *priority, bool may_be_real_time)
{
	errno = 0;
	if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != USUAL_NICE || errno != 0)
		return;
	priority->is_real_time = may_be_real_time && set_policy(SCHED_RR | SCHED_RESET_ON_FORK, LOWEST_REAL_TIME);
	priority->is_nice = !priority->is_real_time && setpriority(PRIO_PROCESS, 0, HIGHEST_NICE) == 0;
}

static void leave_real_time(struct priority *priority)
{
	/* A user who may use real-time priority only by his limits may not clear the flag again. */
	if (priority->is_real_time && (set_policy(SCHED_OTHER, 0) || set_policy(SCHED_OTHER | SCHED_RESET_ON_FORK, 0)))
		priority->is_real_time = false;
}

bool priority_is_spent(struct priority *priority, int64_t now_ns, int64_t cpu_ns)
{
	if (!priority->is_real_time && !priority->is_nice)
		return false;
	if (!priority->is_counted)
		priority->saved_ns = most_saved_ns;
	else
		priority->saved_ns += (now_ns - priority->seen_ns) / SHARE - (cpu_ns - priority->seen_cpu_ns);
	priority->is_counted = true;
	priority->seen_ns = now_ns;
	priority->seen_cpu_ns = cpu_ns;
	if (priority->saved_ns > most_saved_ns)
		priority->saved_ns = most_saved_ns;
	if (priority->saved_ns > 0)
		return false;
	priority_restore(priority);
	return true;
}

/* Lowers the priority of every thread, since each has its own. */
static void slow_down(union sigval unused)
{
	CLEANUP(cleanup_free) int32_t *tids = NULL;
	struct error ignored;
	size_t count = 0;

	(void)unused;
	(void)!proc_read_tasks(getpid(), &tids, &count, &ignored);
	for (size_t i = 0; i < count; i++)
		setpriority(PRIO_PROCESS, (id_t)tids[i], USUAL_NICE);
}

/* The timer counts CPU time: while the recorder waits, it delays nobody. */
static bool set_timer(struct priority *priority)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = slow_down };
	const struct itimerspec end = { .it_value.tv_nsec = hurry_ns };

	priority->is_timed = timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &priority->timer) == 0;
	return priority->is_timed && timer_settime(priority->timer, 0, &end, NULL) == 0;
}

void priority_hurry(struct priority *priority)
{
	if (!priority->is_real_time && !priority->is_nice)
		return;
	leave_real_time(priority);
	priority->is_nice = setpriority(PRIO_PROCESS, 0, HURRIED_NICE) == 0 || priority->is_nice;
	if (!set_timer(priority))
		priority_restore(priority);
}

void priority_restore(struct priority *priority)
{
	leave_real_time(priority);
	if (priority->is_timed)
		timer_delete(priority->timer);
	priority->is_timed = false;
	if (priority->is_nice && setpriority(PRIO_PROCESS, 0, USUAL_NICE) == 0)
		priority->is_nice = false;
}
