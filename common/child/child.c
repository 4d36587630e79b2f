/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

void child_end_with(pid_t parent)
{
	pid_t now;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	now = getppid();
	if (now != parent && now != 0)
		_exit(1);
}

void child_close_between(unsigned int first, unsigned int last)
{
	enum { MOST_CLOSED_SINGLY = 1 << 16 };

	if (first > last || close_range(first, last, 0) == 0)
		return;
	for (unsigned int fd = first; fd <= last && fd < MOST_CLOSED_SINGLY; fd++)
		(void)close((int)fd);
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
