/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The executable mappings of a process, by their start, without overlaps. A lookup and an insertion take a binary
 * search; an insertion also moves what lies behind it.
 */

/* An executable mapping of a process. Places are numbers in struct process_table. */
struct process_mapping {
	uint64_t start, end; /* runtime addresses */
	uint32_t place;
	/* The place of the file's code that this memory stands in place of. PROFILE_NONE: not known. */
	uint32_t covered_place;
};

struct process_mappings {
	struct process_mapping *items; /* owned, by several as long as `*users` says so */
	size_t count, capacity;
	uint32_t *users; /* owned likewise; NULL: they were never copied */
	size_t *kept; /* borrowed: counts the items that memory is kept for, of all that have it; NULL: not counted */
};

/* A process has at most vm.max_map_count mappings, which is 65,530 unless an administrator raises it. */
enum { MAPPINGS_MOST = 1 << 17 };

void mappings_deinit(struct process_mappings *mappings);

/*
 * Makes an empty list equal to another. Both have the same memory until one of them changes, since most processes
 * execute another program soon after they were forked.
 */
COMMON_MUST_CHECK
bool mappings_copy(struct process_mappings *mappings, struct process_mappings *from, struct error *err);

/* The mapping that holds an address; NULL: none. */
const struct process_mapping *mappings_find(const struct process_mappings *mappings, uint64_t address);

/*
 * Returns whether the range belongs to one mapping that is the same but for its bounds: adding it would change nothing.
 */
bool mappings_have(const struct process_mappings *mappings, const struct process_mapping *mapping);

/*
 * Adds a mapping in place of all that it overlaps, since the kernel reports new mappings only; one that continues a
 * neighbour of the same place becomes one with it. ERROR_LIMIT: there are MAPPINGS_MOST, or ERROR_MEMORY; the range is
 * then empty.
 */
COMMON_MUST_CHECK
bool mappings_add(struct process_mappings *mappings, const struct process_mapping *mapping, struct error *err);

/* Removes what lies in [start, end). */
void mappings_remove(struct process_mappings *mappings, uint64_t start, uint64_t end);

/* Returns how many bytes of memory adding a mapping at an address moves or copies. */
size_t mappings_moved_bytes(const struct process_mappings *mappings, uint64_t address);
