/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/unwind.h"

/*
 * The sizes that copies of stacks would need that were cut at the end of theirs. Where a thread's stack begins is known
 * once one of its stacks was whole.
 */
enum { STACK_DEPTH_THREADS = 256, STACK_DEPTH_SIZES = 2 };

struct stack_depths {
	struct {
		int32_t tid;
		uint64_t base;              /* stack pointer of the thread's first frame; 0: not known */
	} threads[STACK_DEPTH_THREADS];     /* those that fall on one place push each other out */
	uint64_t cut;                       /* stacks that were cut by the room for their copies */
	uint64_t within[STACK_DEPTH_SIZES]; /* of these, those that such a copy would hold (stack_depths.c) */
	uint64_t known;                     /* those of which it is known how large they are */
	size_t room;                        /* for a copy, of the largest */
};

/*
 * Notes where the thread's stack begins, after a walk that was whole without being joined to another; its copy had
 * `room` bytes at most.
 */
void stack_depths_note_whole(struct stack_depths *depths, int32_t tid, const struct unwind_result *result, size_t room);

/* Counts a stack that was cut at the end of a copy of `room` bytes. */
void stack_depths_count(struct stack_depths *depths, int32_t tid, uint64_t stack_pointer, size_t room);

/* Appends a sentence on what would make stacks whole, if so many are cut that it matters. `samples`: of all. */
void stack_depths_describe(const struct stack_depths *depths, uint64_t samples, struct buffer *notices);
