/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* How child processes begin, answer and end. What one may do is for common/child/confined.h. */

/* ---- The beginning ---- */

/* How a child differs from its parent from its first moment on. A set of bits. */
enum {
	CHILD_ENDS_WITH_PARENT = 1, /* the kernel kills it when its parent ends */
	/* Signals by which a terminal or a service manager ends the parent, which decides what becomes of the child. */
	CHILD_IGNORES_SIGNALS = 2,
	CHILD_LEADS_GROUP = 4, /* it gets no signal of the terminal, and kill(-pid) reaches what it starts as well */
	CHILD_IS_QUIET = CHILD_ENDS_WITH_PARENT | CHILD_IGNORES_SIGNALS,
};

/* Like fork(): 0 in the child, -1 with errno. */
pid_t child_fork(unsigned int how);

/* The channel by which a child answers. */
enum child_link {
	CHILD_PIPE,     /* the child writes, its parent reads */
	CHILD_STREAM,   /* a stream of bytes in both directions */
	CHILD_MESSAGES, /* messages in both directions (common/message.h) */
};

/* Like child_fork(). `*end` is that process's end of a channel between both, which it owns; unset on failure. */
pid_t child_fork_linked(unsigned int how, enum child_link link, int *end);

/* ---- Its limits, which it sets itself ---- */

struct child_limit {
	__rlimit_resource_t resource; /* of setrlimit(2) */
	uint64_t most;
	/* Counts from the memory that the process has: RLIMIT_AS, RLIMIT_DATA, which no sanitizer could live with. */
	bool is_in_addition;
};

/*
 * Lowers limits of the calling process; none is raised. The hard ones are lowered as well, but for that of RLIMIT_DATA,
 * which child_raise_memory() may need.
 */
void child_limit(const struct child_limit *limits, size_t count);

/* Sets how much a child may have of RLIMIT_DATA, as far as its hard limit allows it. */
void child_raise_memory(pid_t pid, uint64_t bytes);

/* ---- What its parent knows of it ---- */

/* The CPU time that a process has used, in nanoseconds; -1: not known. */
int64_t child_cpu_ns(pid_t pid);

/* The limits of a child that answers. */
struct child_patience {
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	size_t most_bytes;   /* of the answer */
	/*
	 * A child that uses no CPU time for so many ticks of its parent waits for something that does not come. Ticks,
	 * because on a machine with too much to do the parent has to wait as well. 0: any.
	 */
	unsigned int most_still_ticks;
	bool waits_for_disks;     /* a tick in which it waits for a disk (its state is not S) does not count */
	bool (*is_stopped)(void); /* asked each tick, whether nobody wants the answer any more; NULL: no */
};

enum { CHILD_TICK_MS = 10 };

enum child_ending {
	CHILD_ANSWERED, /* it has closed its end of the channel, or has ended */
	CHILD_LATE,
	CHILD_STUCK,
	CHILD_STOPPED,
	CHILD_TOO_LONG, /* most_bytes are here, and there may be more */
	CHILD_NO_MEMORY,
};

/* Appends what comes through a channel of `pid` to `answer`, until one of the endings. The child goes on. */
enum child_ending child_listen(pid_t pid, int end, const struct child_patience *patience, struct buffer *answer);

/* ---- Its end ---- */

/* Waits for the end of a child, whatever signals come; returns its status as waitpid(2) gives it, or -1. */
int child_reap(pid_t pid);

/* Does not wait: returns whether it has ended, with its status (NULL: for nobody). */
bool child_has_ended(pid_t pid, int *status);

/*
 * Kills a child, and waits for its end, for 1 s at most. One that does not end is left to the kernel: it waits for
 * a file that does not come, and ends when that comes.
 */
void child_end(pid_t pid);

/* ---- The calling process ---- */

/*
 * Has the kernel kill the process when its parent ends, and ends it here if the parent has ended before. The first
 * process of a process namespace cannot see that, as its parent has no number there. Where memory is out, the process
 * ends silently from now on, as its parent finds that it has ended.
 */
void child_end_with(pid_t parent);

/*
 * Enters a user namespace, in which the user and the group keep their numbers; `more`: other namespaces that it enters
 * with it (bits of clone(2)).
 */
COMMON_MUST_CHECK
bool child_enter_user_namespace(int more);

enum { CHILD_STREAMS = 3 };

/*
 * Puts copies of descriptors in the place of the standard streams; -1 leaves one as it is. False with errno: some may
 * have been put there.
 */
COMMON_MUST_CHECK
bool child_take_streams(const int streams[CHILD_STREAMS]);

/* Closes all descriptors but these. */
void child_keep(const int *descriptors, size_t count);

/*
 * Returns whether the program runs under a sanitizer: it cannot be confined then, and nobody relies on its confinement.
 */
bool child_is_sanitized(void);

/*
 * Returns how much longer a program takes under a sanitizer, if this one runs under one: a factor for limits of time.
 */
unsigned int child_slowdown(void);
