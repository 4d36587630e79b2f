/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/unwind.h"
#include "sampler/verify/code_map.h"
#include "sampler/verify/library.h"

/*
 * libunwind's walk of a copied stack, and along frame pointers through code that has them in all of its functions and
 * no tables that libunwind reads: Go's, and code that was made while the program runs. It reads only the registers, the
 * copy, and the bytes of the image files that were mapped; the number of frames and of memory reads is bounded. Call it
 * in a child process (common/child/isolated.h): the library is not safe with hostile call frame information, and its
 * memory is not freed.
 */
struct reference;

/* Creates a reference for the stacks of processes with this map; both are borrowed. */
COMMON_MUST_CHECK
bool reference_create(const struct unwind_library *library, const struct code_map *map, struct reference **reference,
	struct error *err);
void reference_destroy(struct reference *reference);

struct reference_stack {
	struct unwind_registers registers;
	struct unwind_piece copy;  /* from the stack pointer on; borrowed */
	struct unwind_piece other; /* of the stack that the thread has left, likewise; size 0: none */
};

/* A walk, and what else it tells. */
struct reference_end {
	size_t count;            /* of addresses */
	size_t by_frame_pointer; /* of addresses before the first one that a frame pointer gave; `count`: none */
	bool is_elsewhere;       /* a frame pointer leads to a stack that was not copied: frames go on there */
};

/*
 * Writes up to `room` addresses, leaf first; callers have their return addresses. libunwind follows call frame
 * information and signal frames only: it ends where it would guess by the frame pointer.
 */
struct reference_end reference_walk(
	struct reference *reference, const struct reference_stack *stack, uint64_t *addresses, size_t room);
