/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * What was placed last at each of a set of addresses. A log of code made at run time may place millions of functions,
 * each over all addresses: placements are collected and settled in groups, the last first, so that each address is
 * written once in a group. The cost of a placement is that of finding its addresses, and memory is in proportion to
 * the addresses.
 */

/* A function in a log. Offsets are those of the log. */
struct placement_code {
	uint64_t start;
	uint64_t name_at; /* its name; 0: nothing was placed */
	uint64_t lines_at, lines_bytes;
	uint64_t lines_offset; /* from an address in the code to its address in the lines */
};

struct placement {
	uint64_t *addresses;          /* owned, rising */
	struct placement_code *codes; /* owned, [address] */
	size_t count;
	struct placement_range *pending; /* owned, in the order in which they were placed */
	size_t pending_count, pending_room;
	uint32_t *next; /* owned, [address]: a place at or after it that the group has not written */
};

/* Pairs with placement_deinit(), also after a failure. */
COMMON_MUST_CHECK
bool placement_init(struct placement *placement, const uint64_t *addresses, size_t count, struct error *err);
void placement_deinit(struct placement *placement);

/* Whether any address is in the range. */
bool placement_covers(const struct placement *placement, uint64_t start, uint64_t size);

/* Places code over the addresses in [start, start + size). */
void placement_add(struct placement *placement, uint64_t start, uint64_t size, const struct placement_code *code);

/* Writes what is pending: placement->codes are complete then. */
void placement_settle(struct placement *placement);
