/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/*
 * Completes stacks that were cut at the end of the stack copy, where the two parts are known to belong together. The
 * first source is the kernel's own walk along frame pointers, which reads the live stack; it is joined where both
 * chains hold the same two frames. The second is an earlier stack of the same thread; it is joined where two frames
 * agree in return address and stack pointer, or a function's frame begins and ends at the same places. The return
 * address alone would miscount recursion.
 */
struct stitch_memory; /* the last stacks of some threads */

COMMON_MUST_CHECK
bool stitch_memory_create(struct stitch_memory **memory, struct error *err);
void stitch_memory_destroy(struct stitch_memory *memory);

/*
 * Remembers a stack of a thread whose walk reached the thread's first frame. Three are kept of a thread: the latest,
 * the latest that is at least half as deep as its stack copy, and the latest that is deeper than it.
 */
void stitch_remember(struct stitch_memory *memory, int32_t tid, const struct unwind_result *result, size_t copy_bytes);

/* Appends the frames above from an earlier stack of the thread; false if none fits. */
COMMON_MUST_CHECK
bool stitch_from_memory(const struct stitch_memory *memory, int32_t tid, struct unwind_result *result);

/* A call chain without context marks, leaf first: runtime addresses, of callers return addresses. */
struct callchain {
	const struct record_words *words;
	size_t first, count;
	bool has_callers_only; /* the first address is a return address as well */
};

/* A part of the kernel's call chain: the addresses behind a context mark (PERF_CONTEXT_USER, ...); none when it has no
 * such part.
 */
struct callchain callchain_of(const struct record_sample *sample, uint64_t context);

/*
 * Leaves the frame of a function and those that it called out of a chain, if the function called the next one at its
 * very entry, where the compiler has left room for that (Linux, Documentation/trace/ftrace.rst): what the sampling
 * itself has called there. Without such a frame, or without callers of it, the chain stays as it is.
 */
void callchain_leave_hook(struct callchain *callchain, uint64_t function);

uint64_t callchain_address(const struct callchain *callchain, size_t index);

/* Appends the frames above from the chain; false if the chain does not fit, or leads out of code. */
COMMON_MUST_CHECK
bool stitch_from_chain(struct process_space *space, const struct callchain *callchain, struct unwind_result *result);
