/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/ranges.h"

#include "symbolize/dwarf/read.h"

#include <dwarf.h>

static const struct dwarf_unit *holder_of(const struct dwarf_unit *unit)
{
	return unit->skeleton ? unit->skeleton : unit;
}

static void init_one(struct dwarf_ranges *ranges, const struct dwarf_value *low, const struct dwarf_value *high)
{
	if (!dwarf_value_address(ranges->unit, low, &ranges->low))
		return;
	/* The high value is an address, or since version 4 an offset from the low address. */
	if (!dwarf_value_address(ranges->unit, high, &ranges->high)) {
		if (high->form == 0 || !checked_add(ranges->low, high->number, &ranges->high))
			return;
	}
	ranges->kind = DWARF_RANGES_ONE;
}

/* Finds the offset of list `index` after the unit's base. */
static bool find_list(const struct dwarf_unit *unit, uint64_t index, uint64_t *offset)
{
	struct byte_reader r = dwarf_file_reader(unit->file, DWARF_SECTION_RNGLISTS);
	uint64_t at;

	if (!checked_mul(index, unit->offset_size, &at) || !checked_add(at, unit->rnglists_base, &at))
		return false;
	byte_reader_seek(&r, at);
	at = byte_reader_uint(&r, unit->offset_size);
	return byte_reader_ok(&r) && checked_add(at, unit->rnglists_base, offset);
}

static void init_list(struct dwarf_ranges *ranges, const struct dwarf_value *list)
{
	const struct dwarf_unit *unit = ranges->unit, *holder = holder_of(unit);
	uint64_t offset = list->number;

	if (unit->version >= 5) {
		if (list->form == DW_FORM_rnglistx && !find_list(unit, list->number, &offset))
			return;
		ranges->r = dwarf_file_reader(unit->file, DWARF_SECTION_RNGLISTS);
		ranges->kind = DWARF_RANGES_LIST;
	} else {
		/* In a split unit, offsets count from the skeleton's base (GNU's extension to version 4). */
		if (unit->skeleton && !checked_add(offset, holder->ranges_base, &offset))
			return;
		ranges->r = dwarf_file_reader(holder->file, DWARF_SECTION_RANGES);
		ranges->kind = DWARF_RANGES_OLD;
	}
	byte_reader_seek(&ranges->r, offset);
}

void dwarf_ranges_init(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, const struct dwarf_value *low,
	const struct dwarf_value *high, const struct dwarf_value *list)
{
	*ranges = (struct dwarf_ranges){ .unit = unit, .base = holder_of(unit)->low_pc };
	if (list->form)
		init_list(ranges, list);
	else if (low->form)
		init_one(ranges, low, high);
}

static uint64_t all_ones(const struct dwarf_unit *unit)
{
	return unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

static bool is_alive(const struct dwarf_unit *unit, uint64_t low, uint64_t high)
{
	return low < high && low != 0 && low < all_ones(unit) - 1;
}

/* Linkers write 1, -1 or -2 as the base of dropped code. 0 is also a valid base in compilers' lists. */
static bool is_dead_base(const struct dwarf_ranges *ranges)
{
	return ranges->base == 1 || ranges->base >= all_ones(ranges->unit) - 1;
}

static bool next_old(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	uint8_t size = ranges->unit->address_size;

	for (;;) {
		*low = dwarf_read_fixed(&ranges->r, size);
		*high = dwarf_read_fixed(&ranges->r, size);
		if (!byte_reader_ok(&ranges->r) || (*low == 0 && *high == 0))
			return false;
		if (*low == all_ones(ranges->unit)) {
			ranges->base = *high;
			continue;
		}
		if (is_dead_base(ranges))
			continue;
		*low += ranges->base;
		*high += ranges->base;
		return true;
	}
}

static uint64_t address_at_index(struct dwarf_ranges *ranges)
{
	uint64_t address = 0;

	if (!dwarf_unit_indexed_address(ranges->unit, byte_reader_uleb128(&ranges->r), &address))
		ranges->r.failed = true;
	return address;
}

static bool next_of_list(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	struct byte_reader *r = &ranges->r;
	uint8_t size = ranges->unit->address_size;

	for (;;) {
		switch (dwarf_read_u8(r)) {
		case DW_RLE_base_addressx:
			ranges->base = address_at_index(ranges);
			continue;
		case DW_RLE_base_address:
			ranges->base = dwarf_read_fixed(r, size);
			continue;
		case DW_RLE_startx_endx:
			*low = address_at_index(ranges);
			*high = address_at_index(ranges);
			return byte_reader_ok(r);
		case DW_RLE_startx_length:
			*low = address_at_index(ranges);
			*high = *low + dwarf_read_uleb128(r);
			return byte_reader_ok(r);
		case DW_RLE_offset_pair:
			*low = ranges->base + dwarf_read_uleb128(r);
			*high = ranges->base + dwarf_read_uleb128(r);
			if (is_dead_base(ranges) && byte_reader_ok(r))
				continue;
			return byte_reader_ok(r);
		case DW_RLE_start_end:
			*low = dwarf_read_fixed(r, size);
			*high = dwarf_read_fixed(r, size);
			return byte_reader_ok(r);
		case DW_RLE_start_length:
			*low = dwarf_read_fixed(r, size);
			*high = *low + dwarf_read_uleb128(r);
			return byte_reader_ok(r);
		default: /* the end, an unknown kind, and (as 0) a failed reader */
			return false;
		}
	}
}

static bool next_any(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	switch (ranges->kind) {
	case DWARF_RANGES_NONE:
		return false;
	case DWARF_RANGES_ONE:
		ranges->kind = DWARF_RANGES_NONE;
		*low = ranges->low;
		*high = ranges->high;
		return true;
	case DWARF_RANGES_OLD:
		return next_old(ranges, low, high);
	case DWARF_RANGES_LIST:
		return next_of_list(ranges, low, high);
	}
	return false;
}

bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	while (next_any(ranges, low, high))
		if (is_alive(ranges->unit, *low, *high))
			return true;
	return false;
}
