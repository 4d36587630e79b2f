/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program_fixture.h"
#include "symbolize/dwarf/scopes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A search that begins at a mark of an earlier one finds what one from the start of the unit finds. */

static void assert_same_scopes(struct dwarf_scopes *marked, const struct dwarf_unit *unit, uint64_t target)
{
	uint64_t found[DWARF_MAX_SCOPES], expected[DWARF_MAX_SCOPES];
	size_t count = dwarf_scopes_find(marked, target, found), expected_count;
	struct dwarf_scopes fresh;

	dwarf_scopes_init(&fresh, unit);
	expected_count = dwarf_scopes_find(&fresh, target, expected);
	dwarf_scopes_deinit(&fresh);
	assert_int_equal(count, expected_count);
	assert_memory_equal(found, expected, count * sizeof(*found));
}

/* Offsets of the unit's entries. */
static size_t list_entries(const struct dwarf_unit *unit, uint64_t **entries)
{
	const uint8_t *bytes = unit->file->sections[DWARF_SECTION_INFO].bytes;
	size_t count = 0;

	*entries = calloc(unit->end - unit->first_die, sizeof(**entries));
	assert_non_null(*entries);
	for (uint64_t offset = unit->first_die; offset < unit->end;) {
		struct dwarf_die die;

		if (bytes[offset] == 0) {
			offset++;
			continue;
		}
		assert_true(dwarf_die_at(unit, offset, &die));
		(*entries)[count++] = offset;
		offset = die.after;
	}
	return count;
}

/* How many marks were left. */
static size_t search_unit(struct dwarf_unit *unit)
{
	struct dwarf_scopes scopes;
	size_t count, marks;
	uint64_t *entries;
	struct error err;
	bool is_open;

	assert_true(dwarf_unit_open(unit, &is_open, &err));
	assert_true(is_open);
	count = list_entries(unit, &entries);
	dwarf_scopes_init(&scopes, unit);
	/* Forwards and backwards; every so many, since each is also looked for from the start. */
	for (size_t i = 0; i < 500; i++)
		assert_same_scopes(&scopes, unit, entries[i * 7919 % count]);
	assert_int_equal(dwarf_scopes_find(&scopes, unit->end, (uint64_t[DWARF_MAX_SCOPES]){ 0 }), 0);
	marks = scopes.count;
	dwarf_scopes_deinit(&scopes);
	free(entries);
	return marks;
}

static void marks_lead_to_the_same_scopes(void **state)
{
	static const char *const names[] = { "cxx-gcc-5", "cxx-gcc-lto", "cxx-clang-5", "cxx-clang-lines" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct elf_image *image;
		struct dwarf_file file;
		struct error err;
		size_t marks = 0;

		if (strstr(names[i], "clang") && access(PROGRAMS "/cxx-clang-5", R_OK) != 0)
			continue;
		image = open_program(names[i]);
		assert_true(dwarf_file_init(&file, image, DWARF_FILE_WHOLE, UINT64_MAX, &err));
		for (size_t k = 0; k < file.unit_count; k++)
			marks += search_unit(&file.units[k]);
		assert_true(marks > 0);
		dwarf_file_deinit(&file);
		elf_image_unref(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_lead_to_the_same_scopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
