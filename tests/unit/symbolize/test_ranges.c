/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/ranges.h"
#include "tests/unit/support/unit_test.h"

#include <dwarf.h>
#include <string.h>

/* Lists of ranges by hand: what linkers leave of code that they dropped. */

enum { MAX_RANGES = 8 };

struct range {
	uint64_t low, high;
};

static size_t read_ranges(
	enum dwarf_section section, uint16_t version, const void *bytes, size_t size, struct range *found)
{
	struct dwarf_file file = { 0 };
	const struct dwarf_unit unit = { .file = &file, .version = version, .address_size = 8, .offset_size = 4 };
	const struct dwarf_value none = { 0 }, list = { .form = DW_FORM_sec_offset };
	struct dwarf_ranges ranges;
	size_t count = 0;

	file.sections[section] = (struct elf_section){ .bytes = bytes, .size = size };
	dwarf_ranges_init(&ranges, &unit, &none, &none, &list);
	while (count < MAX_RANGES && dwarf_ranges_next(&ranges, &found[count].low, &found[count].high))
		count++;
	return count;
}

/* A base, then offsets from it, twice: of dropped code, and of code that is there. */
static void old_lists_skip_dropped_code(void **state)
{
	static const uint64_t bases[] = { 1, UINT64_MAX - 1 };
	struct range found[MAX_RANGES];

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		const uint64_t list[] = { UINT64_MAX, bases[i], 0x1000, 0x2000, UINT64_MAX, 0x400000, 0x10, 0x20,
			UINT64_MAX, 0, 0x500000, 0x500010, 0, 0 };

		assert_int_equal(read_ranges(DWARF_SECTION_RANGES, 4, list, sizeof(list), found), 2);
		assert_true(found[0].low == 0x400010 && found[0].high == 0x400020);
		assert_true(found[1].low == 0x500000 && found[1].high == 0x500010);
	}
}

static void append(uint8_t *list, size_t *size, const void *bytes, size_t count)
{
	memcpy(list + *size, bytes, count);
	*size += count;
}

static void lists_skip_dropped_code(void **state)
{
	static const uint8_t base[] = { DW_RLE_base_address }, pair[] = { DW_RLE_offset_pair, 0x80, 0x20, 0x80, 0x40 };
	static const uint8_t whole[] = { DW_RLE_start_length }, length[] = { 0x10, DW_RLE_end_of_list };
	const uint64_t dropped = UINT64_MAX, there = 0x400000, other = 0x500000;
	struct range found[MAX_RANGES];
	uint8_t list[64];
	size_t size = 0;

	append(list, &size, base, sizeof(base));
	append(list, &size, &there, sizeof(there));
	append(list, &size, pair, sizeof(pair));
	append(list, &size, base, sizeof(base));
	append(list, &size, &dropped, sizeof(dropped));
	append(list, &size, pair, sizeof(pair));
	append(list, &size, whole, sizeof(whole));
	append(list, &size, &other, sizeof(other));
	append(list, &size, length, sizeof(length));
	assert_int_equal(read_ranges(DWARF_SECTION_RNGLISTS, 5, list, size, found), 2);
	assert_true(found[0].low == 0x401000 && found[0].high == 0x402000);
	assert_true(found[1].low == 0x500000 && found[1].high == 0x500010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_lists_skip_dropped_code),
		cmocka_unit_test(lists_skip_dropped_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
