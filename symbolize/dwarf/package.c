/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/package.h"

#include <limits.h>
#include <stdio.h>

/* Columns (DW_SECT_*); number 8 is rnglists in version 5 only. */
enum { SECTION_INFO = 1, SECTION_ABBREV = 3, SECTION_STR_OFFSETS = 6, SECTION_RNGLISTS = 8 };

struct index_header {
	uint64_t columns, units, slots;
	uint64_t signatures, rows, sections, offsets; /* their offsets */
	uint32_t version;
};

static bool package_open_beside(const struct elf_opener *opener, const char *path, struct elf_image **image)
{
	struct error ignored;
	char name[PATH_MAX];

	return path && snprintf(name, sizeof(name), "%s.dwp", path) < (int)sizeof(name) &&
	       elf_image_open_for(opener, ELF_FILE_SPLIT, name, image, &ignored);
}

bool dwarf_package_init(struct dwarf_package *package, const struct elf_opener *opener, const char *path,
	const char *debug_path, struct error *err)
{
	*package = (struct dwarf_package){ .opener = opener };
	if (!package_open_beside(opener, path, &package->image) &&
		!package_open_beside(opener, debug_path, &package->image))
		return true;
	if (!dwarf_file_init(&package->file, package->image, DWARF_FILE_SPLIT, UINT64_MAX, err)) {
		elf_image_unref(package->image);
		package->image = NULL;
		return false;
	}
	if (!elf_image_section(package->image, ".debug_cu_index", &package->index))
		package->index = (struct elf_section){ 0 };
	return true;
}

void dwarf_package_deinit(struct dwarf_package *package)
{
	if (!package->image)
		return;
	dwarf_file_deinit(&package->file);
	elf_image_unref(package->image);
	*package = (struct dwarf_package){ 0 };
}

/* Returns whether the tables lie within the section. It bounds their numbers, which are searched one by one. */
static bool has_tables(const struct dwarf_package *package, const struct index_header *header)
{
	uint64_t cells = header->units * header->columns; /* of two 32-bit numbers */

	return cells <= package->index.size / 4 && checked_range(header->offsets, 4 * cells, package->index.size);
}

/* Reads the header. False also if the tables are not all there. */
static bool package_read_header(const struct dwarf_package *package, struct index_header *header)
{
	struct byte_reader r = byte_reader_over(package->index.bytes, package->index.size);

	header->version = byte_reader_u32(&r) & UINT16_MAX;
	header->columns = byte_reader_u32(&r);
	header->units = byte_reader_u32(&r);
	header->slots = byte_reader_u32(&r);
	header->signatures = byte_reader_offset(&r);
	header->rows = header->signatures + 8 * header->slots;
	header->sections = header->rows + 4 * header->slots;
	header->offsets = header->sections + 4 * header->columns;
	/* The number of slots is a power of two. */
	return byte_reader_ok(&r) && (header->version == 2 || header->version == 5) && header->slots > 0 &&
	       (header->slots & (header->slots - 1)) == 0 && has_tables(package, header);
}

static uint64_t package_number_at(const struct dwarf_package *package, uint64_t offset, size_t size)
{
	struct byte_reader r = byte_reader_over(package->index.bytes, package->index.size);

	byte_reader_seek(&r, offset);
	return byte_reader_uint(&r, size);
}

/* The row of a signature, counted from 1; 0: none. Open addressing with a second hash as the step. */
static uint64_t find_row(const struct dwarf_package *package, const struct index_header *header, uint64_t signature)
{
	uint64_t mask = header->slots - 1, slot = signature & mask, step = ((signature >> 32) & mask) | 1;

	for (uint64_t i = 0; i < header->slots; i++, slot = (slot + step) & mask) {
		uint64_t row = package_number_at(package, header->rows + 4 * slot, 4);

		if (row == 0)
			return 0;
		if (package_number_at(package, header->signatures + 8 * slot, 8) == signature)
			return row <= header->units ? row : 0;
	}
	return 0;
}

static void place(struct dwarf_unit *unit, uint32_t version, uint64_t section, uint64_t offset)
{
	if (section == SECTION_ABBREV)
		unit->abbrev_offset += offset;
	else if (section == SECTION_STR_OFFSETS)
		unit->str_offsets_start = offset;
	else if (section == SECTION_RNGLISTS && version == 5)
		unit->rnglists_start = offset;
}

struct dwarf_unit *dwarf_package_find(const struct dwarf_package *package, const struct dwarf_unit *skeleton)
{
	struct dwarf_unit *unit = NULL;
	struct index_header header;
	uint64_t row;

	if (!package->image || !package_read_header(package, &header))
		return NULL;
	row = find_row(package, &header, skeleton->dwo_id);
	if (row == 0)
		return NULL;
	for (uint64_t column = 0; column < header.columns && !unit; column++)
		if (package_number_at(package, header.sections + 4 * column, 4) == SECTION_INFO)
			unit = dwarf_file_unit_from(
				&package->file, package_number_at(package,
							header.offsets + 4 * ((row - 1) * header.columns + column), 4));
	/* A unit that has a skeleton was found by an earlier round. */
	if (!unit || unit->skeleton)
		return unit;
	unit->skeleton = skeleton;
	for (uint64_t column = 0; column < header.columns; column++)
		place(unit, header.version, package_number_at(package, header.sections + 4 * column, 4),
			package_number_at(package, header.offsets + 4 * ((row - 1) * header.columns + column), 4));
	return unit;
}
