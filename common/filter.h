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

/* False if the kernel takes none, or under a sanitizer, which needs more calls: then all are allowed as before. */
COMMON_MUST_CHECK
bool filter_enter(const struct filter_rule *rules, size_t count);

/* ---- Rules that several filters have; rows of a table ---- */

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

/*
 * Reads what is open, and computes in one thread. A crash ends the process, whose id is `pid`, by a signal that it
 * sends to itself.
 */
#define FILTER_COMPUTES(pid)                                                                                           \
	FILTER_ALWAYS(read), FILTER_ALWAYS(readv), FILTER_ALWAYS(pread64), FILTER_ALWAYS(lseek), FILTER_ALWAYS(close), \
		FILTER_ALWAYS(fstat), FILTER_IF(newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH),                          \
		FILTER_IF(mmap, 2, PROT_EXEC, 0), FILTER_IF(mprotect, 2, PROT_EXEC, 0), FILTER_ALWAYS(munmap),         \
		FILTER_ALWAYS(mremap), FILTER_ALWAYS(brk), FILTER_ALWAYS(madvise), FILTER_ALWAYS(futex),               \
		FILTER_ALWAYS(exit), FILTER_ALWAYS(exit_group), FILTER_ALWAYS(rt_sigaction),                           \
		FILTER_ALWAYS(rt_sigprocmask), FILTER_ALWAYS(rt_sigreturn), FILTER_ALWAYS(restart_syscall),            \
		FILTER_ALWAYS(clock_gettime), FILTER_ALWAYS(clock_nanosleep), FILTER_ALWAYS(nanosleep),                \
		FILTER_ALWAYS(gettimeofday), FILTER_ALWAYS(getrandom), FILTER_ALWAYS(getpid), FILTER_ALWAYS(gettid),   \
		FILTER_ALWAYS(sched_yield), FILTER_IF(tgkill, 0, UINT32_MAX, (uint64_t)(pid))

/* Opens files for reading, and looks at what there is. */
#define FILTER_OPENS                                                                                                   \
	FILTER_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY), FILTER_ALWAYS(newfstatat), FILTER_ALWAYS(stat), \
		FILTER_ALWAYS(lstat), FILTER_ALWAYS(statx), FILTER_ALWAYS(access), FILTER_ALWAYS(faccessat),           \
		FILTER_ALWAYS(faccessat2), FILTER_ALWAYS(readlink), FILTER_ALWAYS(readlinkat),                         \
		FILTER_ALWAYS(getdents64), FILTER_ALWAYS(getcwd), FILTER_ALWAYS(geteuid), FILTER_ALWAYS(fstatfs),      \
		FILTER_IF(fcntl, 1, UINT32_MAX, F_DUPFD_CLOEXEC), FILTER_IF(fcntl, 1, UINT32_MAX, F_GETFL),            \
		FILTER_IF(fcntl, 1, UINT32_MAX, F_GETFD)

/* Has threads, but no processes. */
#define FILTER_THREADS                                                                                                 \
	FILTER_IF(clone, 0, CLONE_THREAD, CLONE_THREAD), FILTER_ALWAYS(set_robust_list), FILTER_ALWAYS(rseq),          \
		FILTER_ALWAYS(sched_getaffinity)
