/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/unit.h"

/* The address ranges of an entry: low and high address, .debug_ranges or .debug_rnglists (DWARF 5, 2.17). */
struct dwarf_ranges {
	const struct dwarf_unit *unit;
	struct byte_reader r;
	uint64_t base, low, high;
	enum { DWARF_RANGES_NONE, DWARF_RANGES_ONE, DWARF_RANGES_OLD, DWARF_RANGES_LIST } kind;
};

void dwarf_ranges_init(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, const struct dwarf_value *low,
	const struct dwarf_value *high, const struct dwarf_value *list);

/* Reads the next half-open range that is neither empty nor of dropped code; false at the end. */
bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high);

/* Returns whether the entry has any code. */
static inline bool dwarf_ranges_any(const struct dwarf_ranges *ranges)
{
	return ranges->kind != DWARF_RANGES_NONE;
}
