/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/unwind.h"

/*
 * Results of stack scans (fallback/caller.c) of earlier stacks: the next sample of a thread often has the same frames
 * at the same places. The tables have a fixed size, and a later result replaces an earlier one. Processes are
 * distinguished by the generations of their spaces.
 */

enum { RECALL_CALLERS = 256, RECALL_LINKS = 256, RECALL_CREDITS = 64 };

/*
 * The caller of a frame. It is valid while the frame has this stack pointer, `slot` holds the return address, and the
 * return addresses below `slot`, which were refuted, are the same.
 */
struct recall_caller {
	uint64_t generation, stack_pointer, slot, return_address;
	uint64_t refused; /* a hash of the refuted return addresses and their places */
};

/* The way in which a call may have led to a function (fallback/link.h). */
struct recall_link {
	uint64_t generation, return_address, callee;
	uint32_t link; /* enum link */
};

/* The number of further scans without a result that a process may have. */
struct recall_credit {
	uint64_t generation;
	uint16_t left, left_out; /* scans left, and scans skipped since none is left */
};

struct recall {
	struct recall_caller callers[RECALL_CALLERS];
	struct recall_link links[RECALL_LINKS];
	struct recall_credit credits[RECALL_CREDITS];
};

/* The entry for the caller of a frame with that stack pointer; it may hold another frame's caller. */
struct recall_caller *recall_caller_at(struct recall *recall, uint64_t generation, uint64_t stack_pointer);

/* The entry for a call; it may hold another call's result. */
struct recall_link *recall_link_at(
	struct recall *recall, uint64_t generation, uint64_t return_address, uint64_t callee);

/*
 * Some runtimes (SBCL, Erlang) keep nothing in the stack that a scan could find. A process starts with credit for 256
 * scans in vain, and a scan that finds a caller earns 16; without credit one scan in 64 is made.
 */
bool recall_may_scan(struct recall *recall, uint64_t generation);
void recall_found(struct recall *recall, uint64_t generation);
void recall_found_nothing(struct recall *recall, uint64_t generation);
