/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Work that may crash, never end or take all memory, such as that of a foreign library on hostile bytes, in a child
 * process. The child sees the memory of its parent as it was at the start (fork()). Of what it does, only what it
 * writes into `result`, which both share, outlives it: this is there whatever ends the child. Starts of several
 * children need a struct each. Not thread-safe.
 */
struct isolated {
	pid_t pid;           /* 0: no child runs */
	int64_t deadline_ns; /* CLOCK_MONOTONIC; the child is killed when it is reached */
	void *result;        /* owned: result_bytes of shared memory, zeroed at the start */
	size_t result_bytes;
};

struct isolated_limits {
	unsigned int seconds; /* of CPU time, and of time until the child is killed; at least 1 */
	size_t memory_bytes;  /* that the child may map beyond what its parent has */
};

/*
 * Starts work(context, result) in a child. The child also ends when its parent does. Signal handlers and open files are
 * those of the parent. ERROR_MEMORY, or ERROR_SYSTEM where no process can be made. `isolated` must not be running.
 */
COMMON_MUST_CHECK
bool isolated_start(struct isolated *isolated, const struct isolated_limits *limits, size_t result_bytes,
	void (*work)(void *context, void *result), void *context, struct error *err);

/* Whether the child has ended, by itself or because its time was up. Does not wait. True where none runs. */
bool isolated_has_ended(struct isolated *isolated);

/* Waits until the child has ended or its time is up. */
void isolated_wait(struct isolated *isolated);

/* Kills a child that runs, and frees the result. */
void isolated_deinit(struct isolated *isolated);
