/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/unit.h"

/*
 * Finds the entries around an entry. Entries do not refer to their parents, so they are passed in order, and skipped as
 * a whole if they end before the target. Without DW_AT_sibling all entries must be passed, so places on the way are
 * marked, and the next search begins at a mark.
 */

enum { DWARF_MAX_SCOPES = 256 };

/* The offset of an entry, and how many of `around` contain it. */
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

/*
 * Writes the entries around the one at `target`, outermost first, into `found[DWARF_MAX_SCOPES]`; returns their number,
 * 0 if there is no such entry.
 */
size_t dwarf_scopes_find(struct dwarf_scopes *scopes, uint64_t target, uint64_t *found);
