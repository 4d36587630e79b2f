/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The code that was placed at each of a set of addresses, one function after another while samples were taken, and
 * before that the last one. A log of code made at run time may place millions of functions, each over all addresses:
 * those from before the samples are collected and settled in groups, the last first, so that each address is written
 * once in a group. The cost of a placement is that of finding its addresses, and memory is in proportion to the
 * addresses: where more generations of code than a few for each address would have to be kept, the last one stands for
 * the rest.
 */

/*
 * The time when code came to stand where it does: between these two, in nanoseconds by the times of events. From
 * INT64_MIN to INT64_MAX: not known.
 */
struct placement_time {
	int64_t from_ns, to_ns;
};
static const struct placement_time placement_any_time = { INT64_MIN, INT64_MAX };

/* A function in a log. Offsets are those of the log. */
struct placement_code {
	uint64_t start;
	uint64_t name_at; /* its name; 0: nothing was placed */
	uint64_t lines_at, lines_bytes;
	uint64_t lines_offset; /* from an address in the code to its address in the lines */
	struct placement_time time;
};

struct code_placement {
	uint64_t *addresses;          /* owned, rising */
	struct placement_code *codes; /* owned, [address]: the last */
	uint32_t *formers; /* owned, [address]: 1 + a place in `former`, of the list of those before; 0: none */
	struct placement_former *former; /* owned; NULL: none yet */
	size_t former_count, former_room;
	size_t count;
	bool is_timed;                   /* placements are kept one after another; what was before is settled */
	bool is_full;                    /* there is no room for more of them */
	struct placement_range *pending; /* owned, in the order in which they were placed */
	size_t pending_count, pending_room;
	uint32_t *next; /* owned, [address]: a place at or after it that the group has not written */
};

/* Pairs with placement_deinit(), also after a failure. */
COMMON_MUST_CHECK
bool placement_init(struct code_placement *placement, const uint64_t *addresses, size_t count, struct error *err);
void placement_deinit(struct code_placement *placement);

/* Returns whether any address is in the range. */
bool placement_covers(const struct code_placement *placement, uint64_t start, uint64_t size);

/* Places code over the addresses in [start, start + size). Calls are in the order of the log. */
void placement_add(struct code_placement *placement, uint64_t start, uint64_t size, const struct placement_code *code);

/* Finishes; to be called when all is placed: what stands where can be read from then on. */
void placement_finish(struct code_placement *placement);

/* The functions that were placed at an address, given by its index, the oldest first; NULL behind the last. */
struct placement_walk {
	const struct code_placement *placement; /* borrowed */
	size_t address;
	uint32_t former;
	bool is_over;
};
struct placement_walk placement_walk_at(const struct code_placement *placement, size_t address);
const struct placement_code *placement_walk_next(struct placement_walk *walk);
