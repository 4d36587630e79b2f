/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Runs work that may crash, never end or use all memory in a child process, as that of a foreign library on hostile
 * bytes. The child sees its parent's memory as it was at fork(). Only what it writes to `result`, which both share,
 * remains afterwards, whatever ends the child. What takes the child over can compute and read, but neither write nor
 * start nor reach anything (common/child/rights.h, common/child/filter.h): where root started it, it is a user that
 * nobody is. Each child needs a struct of its own. Not thread-safe.
 */
struct isolated {
	pid_t pid;           /* 0: no child is running */
	int64_t deadline_ns; /* CLOCK_MONOTONIC; the child is killed at this time */
	void *result;        /* owned: result_bytes of shared memory, zeroed when the child starts */
	size_t result_bytes;
};

struct isolated_limits {
	unsigned int seconds;   /* limit on the child's CPU time, and on its wall time; at least 1 */
	size_t memory_bytes;    /* memory that the child may map in addition to its parent's */
	bool is_confined;       /* the caller has given up its rights already: no more is given up */
	bool reads_files;       /* it opens files for reading, too: those that its user may read */
	const int *descriptors; /* kept open, to be read, borrowed; all others are closed */
	size_t descriptor_count;
};

/*
 * Starts work(context, result) in a child process. The child also ends when its parent ends. It has the signal handlers
 * of the parent. ERROR_MEMORY; ERROR_SYSTEM if no process can be created. No child of `isolated` may be
 * running.
 */
COMMON_MUST_CHECK
bool isolated_start(struct isolated *isolated, const struct isolated_limits *limits, size_t result_bytes,
	void (*work)(void *context, void *result), void *context, struct error *err);

/* Returns whether the child has ended, by itself or at its deadline. Does not wait. True if there is no child. */
bool isolated_has_ended(struct isolated *isolated);

/* Waits until the child has ended or its deadline is reached. */
void isolated_wait(struct isolated *isolated);

/* Kills a running child, and frees the result. */
void isolated_deinit(struct isolated *isolated);
