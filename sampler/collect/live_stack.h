/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"
#include "sampler/records/record.h"

/*
 * A frame can hide all that called it: one larger than any stack copy (half a megabyte of arrays, as rustc has one), or
 * one with a page that the thread has never touched, where the kernel stops copying (video encoders' frames of 26 kB,
 * Ada's tasks). Its function is still running when the sample is walked, a moment later, unless it returned in
 * between; so its callers are read from the process itself. This is done for such frames only: what lies above the copy
 * of another stack often belongs to another call by the time it is read.
 */
enum { LIVE_STACK_BYTES = 65536 };

/* A piece of a live stack, for the current walk. */
struct live_stack {
	uint8_t *bytes; /* owned: LIVE_STACK_BYTES; NULL: none was needed yet */
};

void live_stack_deinit(struct live_stack *stack);

/*
 * Called after a walk that reached the end of the stack copy. If the copy ended at a page that the thread has never
 * touched, the page is made present, so that later copies go on beyond it.
 */
void live_stack_touch(
	const struct process_space *space, const struct record_sample *sample, const struct unwind_job *job);

/* Continues the walk above such a frame. True if the walk reached the root. */
COMMON_MUST_CHECK
bool live_stack_walk(struct live_stack *stack, const struct process_space *space, const struct record_sample *sample,
	struct unwinder *unwinder, struct unwind_job *job);
