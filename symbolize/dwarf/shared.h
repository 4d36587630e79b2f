/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/abbrev.h"
#include "symbolize/dwarf/line.h"

/*
 * The tables that units of a file refer to by an offset: abbreviations, and directories and files of lines. Many units
 * may name the same one, so each is read once and kept until the file is closed. Tables at other offsets may overlap:
 * the bytes read are spent from the file's budget (dwarf_file_spend()).
 */
struct dwarf_shared {
	struct hash_map abbrev_map, line_map; /* key -> index */
	struct dwarf_abbrevs **abbrevs;       /* owned */
	struct dwarf_line_header **lines;     /* owned */
	size_t abbrev_count, abbrev_capacity, line_count, line_capacity;
};

struct dwarf_unit;

/* Pairs with dwarf_shared_deinit(). */
void dwarf_shared_init(struct dwarf_shared *shared);
void dwarf_shared_deinit(struct dwarf_shared *shared);

/*
 * The unit's tables, borrowed from its file, whose lock the caller holds. NULL: the budget is spent. A unit without
 * lines has an empty table of them. Fail if memory runs out.
 */
COMMON_MUST_CHECK
bool dwarf_shared_abbrevs(const struct dwarf_unit *unit, const struct dwarf_abbrevs **abbrevs, struct error *err);
COMMON_MUST_CHECK
bool dwarf_shared_lines(const struct dwarf_unit *unit, const struct dwarf_line_header **lines, struct error *err);
