/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

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

struct filter_set {
	const struct filter_rule *rules; /* borrowed */
	size_t count;
};

#define FILTER_SET(rules)                                                                                              \
	{                                                                                                              \
		(rules), sizeof(rules) / sizeof((rules)[0])                                                            \
	}

/* Rules for a process that works on bytes: it has its memory, but for code, makes threads, reads what is open and the
 * clock, and ends. */
extern const struct filter_set filter_of_work;

/*
 * Allows what the sets allow. False if the kernel takes no filter, or under a sanitizer, which needs more calls: then
 * all are allowed as before.
 */
COMMON_MUST_CHECK
bool filter_enter(const struct filter_set *sets, size_t count);

/*
 * Confines a process that executes a program which is to start no other: it makes no process, only threads, and no
 * socket, whatever it executes; such a call fails with EPERM. All else stays allowed, under a sanitizer, too, as the
 * program that is executed has none. Sets no_new_privs. False if the kernel takes no filter.
 */
COMMON_MUST_CHECK
bool filter_enter_alone(void);

/* Rows of a table. */

#define FILTER_ALWAYS(name)                                                                                            \
	{                                                                                                              \
		SYS_##name, 0,                                                                                         \
		{                                                                                                      \
			{                                                                                              \
				0                                                                                      \
			}                                                                                              \
		}                                                                                                      \
	}
#define FILTER_IF(name, argument, mask, value)                                                                         \
	{                                                                                                              \
		SYS_##name, 1,                                                                                         \
		{                                                                                                      \
			{                                                                                              \
				argument, mask, value                                                                  \
			}                                                                                              \
		}                                                                                                      \
	}

/* Opens files for reading, and looks at what there is. */
#define FILTER_OPENS                                                                                                   \
	FILTER_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY), FILTER_ALWAYS(newfstatat), FILTER_ALWAYS(stat), \
		FILTER_ALWAYS(lstat), FILTER_ALWAYS(statx), FILTER_ALWAYS(access), FILTER_ALWAYS(faccessat),           \
		FILTER_ALWAYS(faccessat2), FILTER_ALWAYS(readlink), FILTER_ALWAYS(readlinkat),                         \
		FILTER_ALWAYS(getdents64), FILTER_ALWAYS(getcwd), FILTER_ALWAYS(geteuid), FILTER_ALWAYS(fstatfs),      \
		FILTER_IF(fcntl, 1, UINT32_MAX, F_DUPFD_CLOEXEC), FILTER_IF(fcntl, 1, UINT32_MAX, F_GETFL),            \
		FILTER_IF(fcntl, 1, UINT32_MAX, F_GETFD)
