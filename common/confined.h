/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Confines a child process that works on hostile bytes. What takes it over can use the CPU, its memory and the
 * descriptors it has: it cannot open files, make sockets, execute programs, look into other processes or get
 * privileges. docs/decisions/39-naming-is-confined.md tells what each part is for.
 */

struct confinement {
	const int *descriptors; /* kept open; all others are closed */
	size_t descriptor_count;
	size_t more_descriptors; /* how many the process may receive in addition */
	int output;              /* the one it may write to; -1: none */
	int socket;              /* the one it may send and receive messages on; -1: none */
	uint64_t data_bytes;     /* memory it may take in addition to what it has; a program under a sanitizer may
				    take any */
};

/* What a confinement lacks, because the machine or a container around us does not allow it. A set of bits. */
enum {
	CONFINED_WITHOUT_FILTER =
		1,            /* no system call is refused: seccomp is not to be had, or a sanitizer needs more */
	CONFINED_AS_ROOT = 2, /* the process is still root's */
};

/*
 * Like fork(). The child ends with its parent, and ignores the signals by which a terminal or a service manager ends
 * the parent, which decides what becomes of the child.
 */
pid_t confined_fork(void);

/* Closes all descriptors but these. */
void confined_keep(const int *descriptors, size_t count);

/* Confines the calling process, a child of confined_fork(), for good. Returns what the confinement lacks. */
unsigned int confined_enter(const struct confinement *confinement);

/* What a confinement lacks here, found out by a child process that confines itself. */
unsigned int confined_probe(void);

/* How much longer a program takes under a sanitizer, if this one runs under one: a factor for limits of time. */
unsigned int confined_slowdown(void);

/*
 * How much memory and CPU time the process may use is limited by its parent: it raises the first limit when the process
 * gets more to work on (RLIMIT_DATA, in bytes: child_memory().data + what the child may take), and reads the second
 * (nanoseconds; -1: not known).
 */
void confined_limit_memory(pid_t pid, uint64_t bytes);
int64_t confined_cpu_ns(pid_t pid);
