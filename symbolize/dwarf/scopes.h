/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/unit.h"

/*
 * The entries around an entry. Entries know no parent: they are passed in order, jumping over those that end before the
 * target. Where compilers write no DW_AT_sibling that is all of them, so the way is marked, and the next search begins
 * at a mark.
 */

enum { DWARF_MAX_SCOPES = 256 };

/* Where an entry begins, and how many of `around` hold it. */
struct dwarf_scope_mark {
	uint64_t offset;
	size_t first, depth;
};

struct dwarf_scopes {
	const struct dwarf_unit *unit;  /* open */
	struct dwarf_scope_mark *marks; /* rising */
	uint64_t *around;               /* of all marks: [first] the outermost */
	size_t count, capacity, around_count, around_capacity;
};

/* Borrows the unit. Pairs with dwarf_scopes_deinit(). */
void dwarf_scopes_init(struct dwarf_scopes *scopes, const struct dwarf_unit *unit);
void dwarf_scopes_deinit(struct dwarf_scopes *scopes);

/* The entries around the one at `target`, outermost first, into `found[DWARF_MAX_SCOPES]`; 0 where there is no such
 * entry. */
size_t dwarf_scopes_find(struct dwarf_scopes *scopes, uint64_t target, uint64_t *found);
