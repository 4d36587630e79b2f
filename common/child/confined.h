/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Confines a child process that works on hostile bytes. What takes it over can use the CPU, its memory and the
 * descriptors it has: it cannot open files, make sockets, execute programs, see or signal other processes or get
 * privileges. docs/decisions/71-one-child-for-each-owner.md tells what each part is for.
 *
 * It takes two processes: one between the program and the child, which confined_separate() prepares, and the child,
 * which it forks then and which calls confined_enter().
 */

struct confinement {
	const int *descriptors; /* kept open; all others are closed */
	size_t descriptor_count;
	size_t more_descriptors; /* how many the process may receive in addition */
	int output;              /* the one it may write to; -1: none */
	const int *sockets;      /* those it may send and receive messages on; kept open as well */
	size_t socket_count;
	int alive;           /* a pipe whose other end its parent has: where that has ended, the process ends */
	uint64_t data_bytes; /* memory it may take in addition to what it has; a program under a sanitizer may
				take any */
	uid_t user;          /* its user where root started it: rights_user() */
};

/* The parts that a confinement lacks, because the machine or a container around us does not allow it. A set of bits. */
enum {
	CONFINED_WITHOUT_FILTER = 1, /* no system call is refused; so it is under a sanitizer, which needs more */
	CONFINED_WITHOUT_USER = 2,   /* it runs as root, or as a user who has other processes */
	CONFINED_WITHOUT_PID_NAMESPACE = 4,   /* it can name the processes of others */
	CONFINED_WITHOUT_MOUNT_NAMESPACE = 8, /* it has a file system */
	CONFINED_WITHOUT_LANDLOCK = 16,
	CONFINED_WITHOUT_ANY = 31,
};

/* Names what is lacking: "a system call filter (seccomp), Landlock". `text` has room for `size` bytes. */
void confined_describe(unsigned int lacks, char *text, size_t size);

/*
 * Like fork(). The child ends with its parent, and ignores the signals by which a terminal or a service manager ends
 * the parent, which decides what becomes of the child.
 */
pid_t confined_fork(void);

/*
 * Kills such a child, and waits for its end, for 1 s at most. One that does not end is left to the kernel: it waits for
 * a file that does not come, and ends when that comes.
 */
void confined_end(pid_t pid);

/* Closes all descriptors but these. */
void confined_keep(const int *descriptors, size_t count);

/*
 * Has the children that the calling process forks from now on live in a process namespace of their own; where the
 * process is not root's, in a user namespace of their own too, which it enters itself, without the capabilities that it
 * had. The first child must be the only one. Returns what that child's confinement will lack.
 */
unsigned int confined_separate(void);

/* Confines the calling process, a child of confined_fork(), for good. Returns what the confinement lacks. */
unsigned int confined_enter(const struct confinement *confinement);

/* Finds out what a confinement lacks here, by a child process that confines itself. */
unsigned int confined_probe(void);

/*
 * Returns how much longer a program takes under a sanitizer, if this one runs under one: a factor for limits of time.
 */
unsigned int confined_slowdown(void);

/*
 * How much memory and CPU time the process may use is limited by its parent: it raises the first limit when the process
 * gets more to work on (RLIMIT_DATA, in bytes: proc_own_memory().data + what the child may take), and reads the second
 * (nanoseconds; -1: not known).
 */
void confined_limit_memory(pid_t pid, uint64_t bytes);
int64_t confined_cpu_ns(pid_t pid);
