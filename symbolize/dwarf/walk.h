/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/unit.h"

/*
 * One pass over a unit's entries that resolves all given addresses: it descends only into functions that contain one of
 * them, and builds no index.
 */

#define DWARF_NO_NODE UINT32_MAX

/* A function, or an inlined one, that covers an address. */
struct dwarf_node {
	uint64_t die;      /* offset */
	uint32_t parent;   /* the function it is inlined into; DWARF_NO_NODE: not inlined */
	uint32_t function; /* the function around it that is not inlined, perhaps itself */
};

struct dwarf_walk {
	struct dwarf_unit *unit;   /* open */
	const uint64_t *addresses; /* rising */
	size_t count;
	uint32_t *deepest; /* [address] its innermost node, or DWARF_NO_NODE; owned by the caller */
	uint32_t *depths;  /* [address] of that node; owned by the caller, zeroed */
	struct dwarf_node *nodes;
	size_t node_count, node_capacity; /* owned: dwarf_walk_deinit() */
	uint64_t budget;                  /* steps over lists of ranges that are paid for */
	bool is_exhaustive; /* GCC nests lambdas below functions that do not cover them: descend everywhere */
	struct error *err;
	bool failed; /* memory ran out; `err` is set */
};

/* Fails if memory runs out. */
COMMON_MUST_CHECK
bool dwarf_walk_run(struct dwarf_walk *walk, struct error *err);
void dwarf_walk_deinit(struct dwarf_walk *walk);
