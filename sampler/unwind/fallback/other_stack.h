/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/walk.h"

/*
 * The caller of a function of Go that has switched stacks: asmcgocall, cgocallback, systemstack, mcall, morestack, and
 * those that call the vdso. It stands on the stack that the thread has left, of which there is a copy in the dump
 * (unwind_stack_dump.other).
 *
 * Such functions push the frame pointer first, so that it shows where their frame is. Before Go 1.21 some have none:
 * the register is their caller's then, and their return address lies a few words below its frame, or where the
 * goroutine's stack was left, as it always does for mcall and morestack, which clear the register. The call before the
 * return address leads to the function.
 */
struct other_stack_caller {
	uint64_t slot;          /* where the return address stands */
	uint64_t frame_pointer; /* where the caller's frame pointer stands; 0: in its register */
	uint64_t return_address;
};

/* False where there is none, or where it was not copied. */
bool other_stack_find(struct walk *w, struct other_stack_caller *caller);
