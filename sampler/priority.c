/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

enum { USUAL_NICE = 0, HIGHEST_NICE = -20, LOWEST_REAL_TIME = 1 };

static bool set_policy(int policy, int priority)
{
	const struct sched_param parameter = { .sched_priority = priority };

	return sched_setscheduler(0, policy, &parameter) == 0;
}

void priority_raise(struct priority *priority)
{
	errno = 0;
	if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != USUAL_NICE || errno != 0)
		return;
	priority->is_real_time = set_policy(SCHED_RR | SCHED_RESET_ON_FORK, LOWEST_REAL_TIME);
	priority->is_nice = !priority->is_real_time && setpriority(PRIO_PROCESS, 0, HIGHEST_NICE) == 0;
}

void priority_restore(struct priority *priority)
{
	/* Whoever may have real time by his limits alone may not take back the flag. */
	if (priority->is_real_time && (set_policy(SCHED_OTHER, 0) || set_policy(SCHED_OTHER | SCHED_RESET_ON_FORK, 0)))
		priority->is_real_time = false;
	if (priority->is_nice && setpriority(PRIO_PROCESS, 0, USUAL_NICE) == 0)
		priority->is_nice = false;
}
