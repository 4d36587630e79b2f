/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/shared.h"

#include "symbolize/dwarf/unit.h"

#include <stdlib.h>

/* A table of lines takes some 10 times its bytes in memory, and is kept. */
enum { LINE_TABLE_WEIGHT = 8 };

/* The place where a table begins, and what the meaning of its bytes depends on. */
struct table_key {
	uint64_t offset, format, strings;
};

void dwarf_shared_init(struct dwarf_shared *shared)
{
	*shared = (struct dwarf_shared){ 0 };
	hash_map_init(&shared->abbrev_map, sizeof(struct table_key));
	hash_map_init(&shared->line_map, sizeof(struct table_key));
}

void dwarf_shared_deinit(struct dwarf_shared *shared)
{
	for (size_t i = 0; i < shared->abbrev_count; i++) {
		dwarf_abbrevs_deinit(shared->abbrevs[i]);
		free(shared->abbrevs[i]);
	}
	for (size_t i = 0; i < shared->line_count; i++) {
		dwarf_line_header_deinit(shared->lines[i]);
		free(shared->lines[i]);
	}
	free(shared->abbrevs);
	free(shared->lines);
	hash_map_deinit(&shared->abbrev_map);
	hash_map_deinit(&shared->line_map);
}

static struct table_key shared_key_of(const struct dwarf_unit *unit, uint64_t offset)
{
	return (struct table_key){ offset,
		(uint64_t)unit->version << 16 | (uint64_t)unit->address_size << 8 | unit->offset_size,
		unit->str_offsets_base };
}

bool dwarf_shared_abbrevs(const struct dwarf_unit *unit, const struct dwarf_abbrevs **abbrevs, struct error *err)
{
	const struct dwarf_format format = dwarf_unit_format(unit);
	struct byte_reader r = dwarf_file_reader(unit->file, DWARF_SECTION_ABBREV);
	struct dwarf_shared *shared = &unit->file->shared;
	/* Abbreviations refer to no strings. */
	struct table_key key = { unit->abbrev_offset, shared_key_of(unit, 0).format, 0 };
	uint32_t index = hash_map_get(&shared->abbrev_map, &key), *value;
	struct dwarf_abbrevs *made;
	bool added;

	*abbrevs = index == HASH_MAP_NONE ? NULL : shared->abbrevs[index];
	if (*abbrevs || dwarf_file_is_spent(unit->file))
		return true;
	if (!ARRAY_RESERVE(&shared->abbrevs, &shared->abbrev_capacity, shared->abbrev_count + 1, ARRAY_MAX_IDS, err))
		return false;
	byte_reader_seek(&r, unit->abbrev_offset);
	made = malloc(sizeof(*made));
	if (!made)
		return error_set_memory(err);
	if (!dwarf_abbrevs_init(made, r, &format, 0, err)) {
		free(made);
		return false;
	}
	shared->abbrevs[shared->abbrev_count] = made;
	if (!hash_map_add(&shared->abbrev_map, &key, (uint32_t)shared->abbrev_count++, &value, &added, err))
		return false;
	*abbrevs = dwarf_file_spend(unit->file, DWARF_SECTION_ABBREV, made->bytes) ? made : NULL;
	return true;
}

bool dwarf_shared_lines(const struct dwarf_unit *unit, const struct dwarf_line_header **lines, struct error *err)
{
	static const struct dwarf_line_header none = { 0 };
	struct dwarf_shared *shared = &unit->file->shared;
	struct table_key key = shared_key_of(unit, unit->line_offset);
	uint32_t index = hash_map_get(&shared->line_map, &key), *value;
	struct dwarf_line_header *made;
	bool added;

	*lines = !unit->has_lines ? &none : index == HASH_MAP_NONE ? NULL : shared->lines[index];
	if (*lines || dwarf_file_is_spent(unit->file))
		return true;
	if (!ARRAY_RESERVE(&shared->lines, &shared->line_capacity, shared->line_count + 1, ARRAY_MAX_IDS, err))
		return false;
	made = malloc(sizeof(*made));
	if (!made)
		return error_set_memory(err);
	if (!dwarf_line_header_init(made, unit, err)) {
		dwarf_line_header_deinit(made);
		free(made);
		return false;
	}
	shared->lines[shared->line_count] = made;
	if (!hash_map_add(&shared->line_map, &key, (uint32_t)shared->line_count++, &value, &added, err))
		return false;
	*lines = dwarf_file_spend(unit->file, DWARF_SECTION_LINE, LINE_TABLE_WEIGHT * made->header_bytes) ? made : NULL;
	return true;
}
