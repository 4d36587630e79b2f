/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/scopes.h"

#include "symbolize/dwarf/read.h"

#include <stdlib.h>
#include <string.h>

/* Distance of marks; some hundred entries are skipped in microseconds. */
enum { MARK_BYTES = 1 << 12, FREE_ENTRIES = 1 << 12 };
static const size_t max_marks = (size_t)1 << 22;

void dwarf_scopes_init(struct dwarf_scopes *scopes, const struct dwarf_unit *unit)
{
	*scopes = (struct dwarf_scopes){ .unit = unit };
}

void dwarf_scopes_deinit(struct dwarf_scopes *scopes)
{
	free(scopes->marks);
	free(scopes->around);
	*scopes = (struct dwarf_scopes){ 0 };
}

/* Adds a mark after the last one. If memory runs out there are fewer marks, and searches take longer. */
static void scopes_mark(struct dwarf_scopes *scopes, uint64_t offset, const uint64_t *around, size_t depth)
{
	uint64_t last = scopes->count ? scopes->marks[scopes->count - 1].offset : scopes->unit->first_die;
	struct error ignored;

	if (offset < last || offset - last < MARK_BYTES ||
		!ARRAY_RESERVE(&scopes->marks, &scopes->capacity, scopes->count + 1, max_marks, &ignored) ||
		!ARRAY_RESERVE(
			&scopes->around, &scopes->around_capacity, scopes->around_count + depth, max_marks, &ignored))
		return;
	scopes->marks[scopes->count++] = (struct dwarf_scope_mark){ offset, scopes->around_count, depth };
	if (depth > 0)
		memcpy(&scopes->around[scopes->around_count], around, depth * sizeof(*around));
	scopes->around_count += depth;
}

/* The start of the search for `target`, and the entries around it. */
static uint64_t find_start(const struct dwarf_scopes *scopes, uint64_t target, uint64_t *around, size_t *depth)
{
	size_t low = ARRAY_COUNT_UP_TO(scopes->marks, scopes->count, offset, target);

	*depth = low ? scopes->marks[low - 1].depth : 0;
	if (*depth > 0)
		memcpy(around, &scopes->around[scopes->marks[low - 1].first], *depth * sizeof(*around));
	return low ? scopes->marks[low - 1].offset : scopes->unit->first_die;
}

size_t dwarf_scopes_find(struct dwarf_scopes *scopes, uint64_t target, uint64_t *found)
{
	const struct dwarf_unit *unit = scopes->unit;
	size_t depth;
	struct byte_reader r = dwarf_unit_reader(unit, find_start(scopes, target, found, &depth));
	unsigned int passed = 0;

	while (byte_reader_left(&r) > 0) {
		uint64_t offset = byte_reader_offset(&r), code, sibling;
		const struct dwarf_abbrev *abbrev;

		scopes_mark(scopes, offset, found, depth);
		/* Many units can refer to the end of one: each of their jobs passes its entries anew. */
		if (++passed % FREE_ENTRIES == 0 && !dwarf_file_spend(unit->file, DWARF_SECTION_INFO, FREE_ENTRIES))
			return 0;
		code = dwarf_read_uleb128(&r);
		if (offset >= target || !byte_reader_ok(&r))
			return offset == target ? depth : 0;
		if (code == 0) {
			if (depth == 0)
				return 0;
			depth--;
			continue;
		}
		abbrev = dwarf_abbrevs_find(unit->abbrevs, code);
		if (!abbrev)
			return 0;
		sibling = dwarf_die_sibling(unit, &r, abbrev);
		if (!abbrev->has_children)
			continue;
		if (sibling && sibling <= target) {
			byte_reader_seek(&r, sibling);
		} else {
			if (depth == DWARF_MAX_SCOPES)
				return 0;
			found[depth++] = offset;
		}
	}
	return 0;
}
