/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/file.h"

#include "symbolize/dwarf/unit.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The number of times that each section may be read, and how many bytes more. Tables are read once, lists of ranges
 * twice, entries and lines in up to five rounds, and the root entries' strings some times more.
 */
enum { MAX_READS = 16, MAX_TABLE_READS = 3, FREE_BYTES = 1 << 20 };

/* Linkers that align units leave zeros between them. */
enum { MAX_PADDING = 16 };

/* A unit has at least 11 bytes of header. */
static const size_t max_units = (size_t)1 << 26;

/* Hardly any unit's line program is longer than this. */
enum { LINE_PROGRAM_BYTES = 1 << 15 };

static const char *const section_names[DWARF_SECTION_COUNT] = {
	[DWARF_SECTION_INFO] = ".debug_info",
	[DWARF_SECTION_ABBREV] = ".debug_abbrev",
	[DWARF_SECTION_STR] = ".debug_str",
	[DWARF_SECTION_LINE_STR] = ".debug_line_str",
	[DWARF_SECTION_STR_OFFSETS] = ".debug_str_offsets",
	[DWARF_SECTION_ADDR] = ".debug_addr",
	[DWARF_SECTION_RANGES] = ".debug_ranges",
	[DWARF_SECTION_RNGLISTS] = ".debug_rnglists",
	[DWARF_SECTION_LINE] = ".debug_line",
	[DWARF_SECTION_ARANGES] = ".debug_aranges",
};

/* Reads a unit's header. False if the next unit's place is not known then. */
static bool file_read_header(struct byte_reader *r, struct dwarf_unit *unit)
{
	uint64_t length;

	unit->offset = byte_reader_offset(r);
	length = dwarf_read_length(r, &unit->offset_size);
	if (!byte_reader_ok(r) || !checked_add(byte_reader_offset(r), length, &unit->end))
		return false;
	unit->version = byte_reader_u16(r);
	unit->type = DW_UT_compile;
	if (unit->version >= 5) {
		unit->type = byte_reader_u8(r);
		unit->address_size = byte_reader_u8(r);
	}
	unit->abbrev_offset = byte_reader_uint(r, unit->offset_size);
	if (unit->version < 5)
		unit->address_size = byte_reader_u8(r);
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
		unit->dwo_id = byte_reader_u64(r);
	if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
		byte_reader_skip(r, 8 + unit->offset_size);
	unit->first_die = byte_reader_offset(r);
	unit->is_readable = unit->version >= 2 && unit->version <= 5 &&
			    (unit->address_size == 4 || unit->address_size == 8) && unit->first_die <= unit->end;
	return byte_reader_ok(r);
}

/* Reads all headers. `next` becomes the unit after the last present one, if its header is present. */
static bool read_headers(struct dwarf_file *file, struct dwarf_unit *next, struct error *err)
{
	struct byte_reader r = dwarf_file_reader(file, DWARF_SECTION_INFO);
	unsigned int padding = 0;

	while (byte_reader_left(&r) > 0) {
		struct dwarf_unit unit = { .file = file };

		if (!file_read_header(&r, &unit))
			break;
		*next = unit;
		if (unit.end > file->sections[DWARF_SECTION_INFO].size)
			break;
		byte_reader_seek(&r, unit.end);
		/* One that is shorter than its own header is padding, or damaged. */
		padding = unit.first_die > unit.end ? padding + 1 : 0;
		if (padding > MAX_PADDING)
			break;
		if (padding > 0)
			continue;
		if (!ARRAY_APPEND(&file->units, &file->unit_capacity, &file->unit_count, max_units, err, unit))
			return false;
	}
	return true;
}

static void dwarf_file_take_section(
	struct dwarf_file *file, struct elf_image *image, enum dwarf_section section, uint64_t bytes)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s", section_names[section], file->is_split ? ".dwo" : "");
	if (!elf_image_section_start(image, name, bytes, &file->sections[section]))
		file->sections[section] = (struct elf_section){ 0 };
}

static bool has_code_units(const struct dwarf_file *file)
{
	for (size_t i = 0; i < file->unit_count; i++)
		if (file->units[i].type != DW_UT_split_type)
			return true;
	return false;
}

/*
 * Skips type sections: GCC puts each type unit of a .dwo file in a section of its own, all of one name, before that of
 * the compilation unit.
 */
static bool skip_type_sections(struct dwarf_file *file, struct elf_image *image, struct error *err)
{
	struct dwarf_unit ignored;
	size_t index = 0;

	while (!has_code_units(file) &&
		elf_image_next_section(image, ".debug_info.dwo", &index, &file->sections[DWARF_SECTION_INFO])) {
		file->unit_count = 0;
		if (!read_headers(file, &ignored, err))
			return false;
	}
	return true;
}

/*
 * The needed size of .debug_abbrev. Linkers place units and their tables of abbreviations in the same order, so the
 * next unit's table begins where the last one ends.
 */
static uint64_t abbrevs_needed(const struct dwarf_file *file, const struct dwarf_unit *next)
{
	if (!file->is_part)
		return UINT64_MAX;
	for (size_t i = 0; i < file->unit_count; i++)
		if (file->units[i].abbrev_offset >= next->abbrev_offset)
			return UINT64_MAX;
	return next->abbrev_offset;
}

/*
 * The start of the last needed line program: line programs are in the order of their units too. UINT64_MAX: not known.
 */
static uint64_t last_lines(const struct dwarf_file *file)
{
	struct dwarf_unit last;
	struct error ignored;

	if (!file->is_part || file->unit_count == 0)
		return UINT64_MAX;
	last = file->units[file->unit_count - 1];
	if (!dwarf_unit_read_root(&last, &ignored))
		return UINT64_MAX;
	return last.has_lines ? last.line_offset : UINT64_MAX;
}

static bool has_lines_at(const struct dwarf_file *file, uint64_t offset)
{
	struct byte_reader r = dwarf_file_reader(file, DWARF_SECTION_LINE);
	uint8_t offset_size;

	byte_reader_seek(&r, offset);
	byte_reader_skip(&r, dwarf_read_length(&r, &offset_size));
	return byte_reader_ok(&r);
}

static void file_take_lines(struct dwarf_file *file, struct elf_image *image)
{
	uint64_t last = last_lines(file), needed;

	if (!checked_add(last, LINE_PROGRAM_BYTES, &needed))
		needed = UINT64_MAX;
	dwarf_file_take_section(file, image, DWARF_SECTION_LINE, needed);
	if (file->sections[DWARF_SECTION_LINE].size == needed && !has_lines_at(file, last))
		dwarf_file_take_section(file, image, DWARF_SECTION_LINE, UINT64_MAX);
}

static void set_budget(struct dwarf_file *file, enum dwarf_section section)
{
	uint64_t reads = section == DWARF_SECTION_ABBREV ? MAX_TABLE_READS : MAX_READS, bytes;

	if (!checked_mul(file->sections[section].size, reads, &bytes) || !checked_add(bytes, FREE_BYTES, &bytes))
		bytes = UINT64_MAX;
	atomic_store(&file->budget[section], bytes);
}

bool dwarf_file_init(struct dwarf_file *file, struct elf_image *image, enum dwarf_file_kind kind, uint64_t info_bytes,
	struct error *err)
{
	struct dwarf_unit next = { 0 };

	*file = (struct dwarf_file){ .is_split = kind == DWARF_FILE_SPLIT };
	pthread_mutex_init(&file->lock, NULL);
	dwarf_shared_init(&file->shared);
	dwarf_file_take_section(file, image, DWARF_SECTION_INFO, info_bytes);
	file->is_part = file->sections[DWARF_SECTION_INFO].size == info_bytes;
	if (!read_headers(file, &next, err) || (file->is_split && !skip_type_sections(file, image, err))) {
		dwarf_file_deinit(file);
		return false;
	}
	dwarf_file_take_section(file, image, DWARF_SECTION_ABBREV, abbrevs_needed(file, &next));
	for (size_t i = DWARF_SECTION_STR; i < DWARF_SECTION_COUNT; i++)
		if (i != DWARF_SECTION_LINE)
			dwarf_file_take_section(file, image, i, UINT64_MAX);
	for (size_t i = 0; i < DWARF_SECTION_COUNT; i++)
		set_budget(file, i);
	if (kind != DWARF_FILE_WITHOUT_LINES)
		file_take_lines(file, image);
	set_budget(file, DWARF_SECTION_LINE);
	return true;
}

void dwarf_file_deinit(struct dwarf_file *file)
{
	dwarf_shared_deinit(&file->shared);
	free(file->units);
	pthread_mutex_destroy(&file->lock);
	*file = (struct dwarf_file){ 0 };
}
