/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/claim.h"

#include "symbolize/addresses.h"
#include "symbolize/dwarf/ranges.h"
#include "symbolize/dwarf/read.h"

#include <dwarf.h>

/* Limits the work on tables that repeat the same addresses. */
static const uint64_t max_steps = (uint64_t)1 << 28;

struct claims {
	const uint64_t *addresses;
	size_t count;
	const struct dwarf_file *file; /* NULL: units are not known, and their offsets are used instead */
	const uint32_t *asked;
	bool *listed;
	uint32_t *units;
	uint64_t steps;
};

static void claim(struct claims *c, uint64_t low, uint64_t high, uint32_t unit)
{
	size_t first = addresses_lower_bound(c->addresses, c->count, low);

	for (; first < c->count && c->addresses[first] < high && c->steps < max_steps; first++, c->steps++)
		if (c->units[first] == DWARF_NO_UNIT && !(c->asked && c->asked[first] == unit))
			c->units[first] = unit;
}

static uint32_t unit_of_offset(const struct claims *c, uint64_t offset)
{
	const struct dwarf_unit *unit;

	if (!c->file)
		return offset < DWARF_NO_CODE ? (uint32_t)offset : DWARF_NO_UNIT;
	unit = dwarf_file_unit_from(c->file, offset);
	return unit ? (uint32_t)(unit - c->file->units) : DWARF_NO_UNIT;
}

static void claim_by_set(struct claims *c, struct byte_reader *r, uint8_t offset_size)
{
	uint8_t address_size;
	uint32_t unit;

	byte_reader_u16(r); /* version */
	unit = unit_of_offset(c, byte_reader_uint(r, offset_size));
	address_size = byte_reader_u8(r);
	byte_reader_u8(r); /* segment selectors */
	if (unit == DWARF_NO_UNIT || (address_size != 4 && address_size != 8))
		return;
	if (c->listed)
		c->listed[unit] = true;
	/* Tuples are aligned to their size, counted from the set's length. */
	byte_reader_align(r, 2 * (size_t)address_size);
	while (byte_reader_left(r) > 0 && c->steps++ < max_steps) {
		uint64_t low = dwarf_read_fixed(r, address_size), size = dwarf_read_fixed(r, address_size), high;

		if (!byte_reader_ok(r) || (low == 0 && size == 0))
			return;
		if (low != 0 && checked_add(low, size, &high))
			claim(c, low, high, unit);
	}
}

/* Reads the next set; its reader is after the length. False at the end. */
static bool next_set(struct byte_reader *r, struct byte_reader *set, uint8_t *offset_size)
{
	size_t start = byte_reader_offset(r), header;
	uint64_t length;

	if (byte_reader_left(r) == 0)
		return false;
	length = dwarf_read_length(r, offset_size);
	if (!byte_reader_ok(r) || length > byte_reader_left(r))
		return false;
	header = byte_reader_offset(r) - start;
	*set = byte_reader_over(r->start + start, header + length);
	byte_reader_seek(set, header);
	byte_reader_skip(r, length);
	return true;
}

static void claim_by_sets(struct claims *c, struct byte_reader r)
{
	struct byte_reader set;
	uint8_t offset_size;

	while (next_set(&r, &set, &offset_size))
		claim_by_set(c, &set, offset_size);
}

void dwarf_claim_by_aranges(
	const struct dwarf_file *file, const uint64_t *addresses, size_t count, bool *listed, uint32_t *units)
{
	struct claims c = { .addresses = addresses, .count = count, .file = file, .units = units, .listed = listed };

	claim_by_sets(&c, dwarf_file_reader(file, DWARF_SECTION_ARANGES));
}

/* The offset of the next unit with a set, after `behind`; UINT64_MAX: there is none. */
static uint64_t next_unit(struct byte_reader r, uint64_t behind)
{
	uint64_t next = UINT64_MAX;
	struct byte_reader set;
	uint8_t offset_size;

	while (next_set(&r, &set, &offset_size)) {
		uint64_t offset;

		byte_reader_u16(&set); /* version */
		offset = byte_reader_uint(&set, offset_size);
		if (byte_reader_ok(&set) && offset > behind && offset < next)
			next = offset;
	}
	return next;
}

uint64_t dwarf_claim_extent(struct elf_image *image, const uint64_t *addresses, size_t count, uint32_t *units)
{
	enum { UNIT_HEADER_BYTES = 40 }; /* the longest header */
	struct claims c = { .addresses = addresses, .count = count, .units = units };
	struct elf_section section;
	uint64_t last = 0, extent;

	if (!elf_image_section(image, ".debug_aranges", &section))
		return UINT64_MAX;
	claim_by_sets(&c, byte_reader_over(section.bytes, section.size));
	for (size_t i = 0; i < count; i++) {
		if (units[i] == DWARF_NO_UNIT)
			return UINT64_MAX;
		if (units[i] != DWARF_NO_CODE && units[i] > last)
			last = units[i];
	}
	extent = next_unit(byte_reader_over(section.bytes, section.size), last);
	return checked_add(extent, UNIT_HEADER_BYTES, &extent) ? extent : UINT64_MAX;
}

static void claim_by_root(struct claims *c, const struct dwarf_unit *unit, uint32_t index)
{
	struct dwarf_ranges ranges;
	uint64_t low, high;

	dwarf_ranges_init(&ranges, unit, &unit->low_value, &unit->high_value, &unit->ranges_value);
	while (c->steps++ < max_steps && dwarf_ranges_next(&ranges, &low, &high))
		claim(c, low, high, index);
}

bool dwarf_claim_by_roots(const struct dwarf_file *file, const uint64_t *addresses, size_t count, const bool *listed,
	const uint32_t *asked, uint32_t *units, struct error *err)
{
	struct claims c = { .addresses = addresses, .count = count, .asked = asked, .units = units };

	for (size_t i = 0; i < file->unit_count; i++) {
		struct dwarf_unit copy = file->units[i];
		struct error why = { 0 };

		if (copy.type == DW_UT_type || copy.type == DW_UT_partial || (listed && listed[i]))
			continue;
		if (dwarf_unit_read_root(&copy, &why)) {
			claim_by_root(&c, &copy, (uint32_t)i);
		} else if (why.code == ERROR_MEMORY) {
			*err = why;
			return false;
		}
	}
	return true;
}
