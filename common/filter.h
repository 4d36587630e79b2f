/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The system calls that the calling thread, and what it forks, may make from now on (seccomp(2)): those of the rules.
 * Of all others, those that change files, start or touch processes, make sockets or ask for privileges end the process,
 * and the rest fails with EPERM, since a C library may try it and go on without.
 */

struct filter_condition {
	unsigned int argument; /* its number, from 0 */
	uint64_t mask, value;  /* argument & mask == value */
};

enum { FILTER_MOST_CONDITIONS = 2 };

struct filter_rule {
	int call; /* SYS_read and the others of sys/syscall.h */
	size_t condition_count;
	struct filter_condition conditions[FILTER_MOST_CONDITIONS]; /* all of them hold */
};

/* False if the kernel takes none, or under a sanitizer, which needs more calls: then all are allowed as before. */
COMMON_MUST_CHECK
bool filter_enter(const struct filter_rule *rules, size_t count);

/*
 * As filter_enter(), for a process that works on bytes, beside what the rules allow: it has its memory, but for code, makes
 * threads, reads what is open and the clock, and ends.
 */
COMMON_MUST_CHECK
bool filter_enter_working(const struct filter_rule *rules, size_t count);
