/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/describe.h"

#include "symbolize/name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HOPS = 16, MAX_SCOPES = 256, MAX_TEXT_BYTES = 1 << 16 };

void dwarf_describer_init(struct dwarf_describer *describer, struct arena *arena)
{
	*describer = (struct dwarf_describer){ .arena = arena };
	hash_map_init(&describer->functions, 2 * sizeof(uint64_t));
	hash_map_init(&describer->path_map, 2 * sizeof(uint64_t));
}

void dwarf_describer_deinit(struct dwarf_describer *describer)
{
	hash_map_deinit(&describer->functions);
	hash_map_deinit(&describer->path_map);
	free(describer->items);
	free(describer->paths);
}

static bool keep(struct dwarf_describer *d, const char *string, const char **kept, struct error *err)
{
	*kept = "";
	if (!string || !string[0])
		return true;
	*kept = name_copy(d->arena, string, strlen(string));
	return *kept || error_set_memory(err);
}

bool dwarf_describe_path(
	struct dwarf_describer *d, const struct dwarf_unit *unit, uint64_t index, const char **path, struct error *err)
{
	/* A split unit's rows and calls count the files of its skeleton. */
	const struct dwarf_unit *holder = unit->skeleton && unit->skeleton->has_lines ? unit->skeleton : unit;
	uint64_t key[2] = { (uintptr_t)holder, index };
	uint32_t *value;
	struct buffer text;
	bool added, ok;

	if (!hash_map_add(&d->path_map, key, (uint32_t)d->path_count, &value, &added, err))
		return false;
	if (!added) {
		*path = d->paths[*value];
		return true;
	}
	if (!ARRAY_RESERVE(&d->paths, &d->path_capacity, d->path_count + 1, ARRAY_MAX_IDS, err))
		return false;
	buffer_init(&text, MAX_TEXT_BYTES);
	ok = keep(d, dwarf_line_path(&holder->lines, holder->directory, index, &text) && !text.failed ? text.data : "", path, err);
	buffer_deinit(&text);
	d->paths[d->path_count++] = ok ? *path : "";
	return ok;
}

/* ---- ns::Class::fn ---- */

/* Languages whose functions have no scopes, or whose names already say them. */
static bool is_flat_language(uint16_t language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17 */
	case DW_LANG_Go:
	case DW_LANG_Mips_Assembler:
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/*
 * The entries around `target`, outermost first. Entries know no parent: they are passed in order, jumping over those that end
 * before the target.
 */
static size_t find_scopes(const struct dwarf_unit *unit, uint64_t target, uint64_t *scopes)
{
	struct byte_reader r = dwarf_unit_reader(unit, unit->first_die);
	size_t depth = 0;

	while (byte_reader_left(&r) > 0) {
		uint64_t offset = byte_reader_offset(&r), code = byte_reader_uleb128(&r), sibling;
		const struct dwarf_abbrev *abbrev;

		if (offset >= target || !byte_reader_ok(&r))
			return offset == target ? depth : 0;
		if (code == 0) {
			if (depth == 0)
				return 0;
			depth--;
			continue;
		}
		abbrev = dwarf_abbrevs_find(&unit->abbrevs, code);
		if (!abbrev)
			return 0;
		sibling = dwarf_die_sibling(unit, &r, abbrev);
		if (!abbrev->has_children)
			continue;
		if (sibling && sibling <= target) {
			byte_reader_seek(&r, sibling);
		} else {
			if (depth == MAX_SCOPES)
				return 0;
			scopes[depth++] = offset;
		}
	}
	return 0;
}

static void append_scope(struct dwarf_unit *unit, uint64_t offset, struct buffer *text)
{
	struct dwarf_die die;
	const char *name;

	if (!dwarf_die_at(unit, offset, &die))
		return;
	switch (die.abbrev->tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		name = dwarf_value_string(unit, &die.name);
		if (!name)
			name = die.abbrev->tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous class)";
		buffer_printf(text, "%s::", name);
		break;
	default:
		break;
	}
}

/* `unit` and `offset` are those of the declaration, which stands within its scopes. */
static bool qualify(struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset, const char **name, struct error *err)
{
	uint64_t scopes[MAX_SCOPES];
	struct buffer text;
	size_t count;
	bool ok;

	if (is_flat_language(unit->language))
		return keep(d, *name, name, err);
	buffer_init(&text, MAX_TEXT_BYTES);
	count = find_scopes(unit, offset, scopes);
	for (size_t i = 0; i < count; i++)
		append_scope(unit, scopes[i], &text);
	buffer_append_string(&text, *name);
	ok = keep(d, text.failed ? *name : text.data, name, err);
	buffer_deinit(&text);
	return ok;
}

/* ---- Functions ---- */

/* What is not known yet is taken from this entry of the chain. */
static bool take(struct dwarf_describer *d, struct dwarf_unit *unit, const struct dwarf_die *die, struct dwarf_function *function,
	struct error *err)
{
	uint32_t file = dwarf_value_small(&die->decl_file);
	const char *string;

	if (!function->linkage_name[0] && (string = dwarf_value_string(unit, &die->linkage_name)))
		function->linkage_name = string;
	if (!function->name[0] && (string = dwarf_value_string(unit, &die->name)))
		function->name = string;
	if (function->decl_line == 0)
		function->decl_line = dwarf_value_small(&die->decl_line);
	if (function->decl_file[0] || !die->decl_file.form)
		return true;
	return dwarf_describe_path(d, unit, file, &function->decl_file, err);
}

static bool follow(
	struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset, struct dwarf_function *function, struct error *err)
{
	struct error why = { 0 };

	for (unsigned int hop = 0; hop < MAX_HOPS; hop++) {
		struct dwarf_unit *next_unit;
		struct dwarf_die die;
		uint64_t next;

		if (!dwarf_die_at(unit, offset, &die))
			break;
		if (!take(d, unit, &die, function, err))
			return false;
		if (!dwarf_value_reference(unit, &die.abstract_origin, &next_unit, &next) &&
			!dwarf_value_reference(unit, &die.specification, &next_unit, &next))
			break;
		if (!dwarf_unit_open(next_unit, &why)) {
			if (why.code != ERROR_MEMORY)
				break;
			*err = why;
			return false;
		}
		unit = next_unit;
		offset = next;
	}
	if (!function->linkage_name[0])
		return qualify(d, unit, offset, &function->name, err);
	return keep(d, function->linkage_name, &function->linkage_name, err) && keep(d, function->name, &function->name, err);
}

bool dwarf_describe(
	struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset, struct dwarf_function *function, struct error *err)
{
	uint64_t key[2] = { (uintptr_t)unit, offset };
	uint32_t *value;
	bool added;

	if (!hash_map_add(&d->functions, key, (uint32_t)d->count, &value, &added, err))
		return false;
	if (!added) {
		*function = d->items[*value];
		return true;
	}
	if (!ARRAY_RESERVE(&d->items, &d->capacity, d->count + 1, ARRAY_MAX_IDS, err))
		return false;
	*function = (struct dwarf_function){ "", "", "", 0 };
	if (!follow(d, unit, offset, function, err))
		return false;
	d->items[d->count++] = *function;
	return true;
}
