/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/unwind/unwind.h"
#include "recording/verify/code_map.h"
#include "recording/verify/library.h"

/*
 * libunwind's walk of a copied stack. It reads only the registers, the copy, and the bytes of the image files that were
 * mapped; the number of frames and of memory reads is bounded. Call it in a child process (common/isolated.h): the
 * library is not safe with hostile call frame information, and its memory is not freed.
 */
struct reference;

/* Creates a reference for the stacks of processes with this map; both are borrowed. */
COMMON_MUST_CHECK
bool reference_create(const struct unwind_library *library, const struct code_map *map, struct reference **reference,
	struct error *err);
void reference_destroy(struct reference *reference);

struct reference_stack {
	struct unwind_registers registers;
	struct unwind_piece copy; /* from the stack pointer on; borrowed */
};

/*
 * Writes up to `room` addresses, leaf first, and returns how many; callers have their return addresses. The walk
 * follows call frame information and signal frames only: it ends where libunwind would guess by the frame pointer.
 */
size_t reference_walk(
	struct reference *reference, const struct reference_stack *stack, uint64_t *addresses, size_t room);
