/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/unwind.h"

/*
 * What stack scans (fallback/caller.c) found in earlier stacks: the next sample of a thread often has the same frames
 * at the same places. Tables of a fixed size, in which a later answer pushes out an earlier one. Processes are told
 * apart by their spaces' generations.
 */

enum { RECALL_CALLERS = 256, RECALL_LINKS = 256, RECALL_CREDITS = 64 };

/*
 * The caller of a frame. It holds while the frame has this stack pointer, `slot` has the return address, and the return
 * addresses below `slot`, which were refused, are the same.
 */
struct recall_caller {
	uint64_t generation, stack_pointer, slot, return_address;
	uint64_t refused; /* a hash of them and of where they stand */
};

/* Whether a call may have led to a function (fallback/link.h). */
struct recall_link {
	uint64_t generation, return_address, callee;
	bool is_possible;
};

/* How many more scans in vain a process may cost. */
struct recall_credit {
	uint64_t generation;
	uint16_t left, left_out; /* scans that were left out since there is none left */
};

struct recall {
	struct recall_caller callers[RECALL_CALLERS];
	struct recall_link links[RECALL_LINKS];
	struct recall_credit credits[RECALL_CREDITS];
};

/* Where the caller of a frame with that stack pointer is kept; it may be another frame's. */
struct recall_caller *recall_caller_at(struct recall *recall, uint64_t generation, uint64_t stack_pointer);

/* Where the answer for a call is kept; it may be another call's. */
struct recall_link *recall_link_at(
	struct recall *recall, uint64_t generation, uint64_t return_address, uint64_t callee);

/*
 * Some runtimes (SBCL, Erlang) keep nothing in the stack that a scan could find. A process starts with credit for 256
 * scans in vain, and a scan that finds a caller earns 16; without credit one scan in 64 is made.
 */
bool recall_may_scan(struct recall *recall, uint64_t generation);
void recall_found(struct recall *recall, uint64_t generation);
void recall_found_nothing(struct recall *recall, uint64_t generation);
