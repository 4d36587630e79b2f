/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/describe.h"

#include "common/common.h"
#include "symbolize/name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HOPS = 16, MAX_NESTING = 8, MAX_TEXT_BYTES = 1 << 16 };

void dwarf_describer_init(struct dwarf_describer *describer, struct arena *arena)
{
	*describer = (struct dwarf_describer){ .arena = arena };
	hash_map_init(&describer->functions, 2 * sizeof(uint64_t));
	hash_map_init(&describer->path_map, 2 * sizeof(uint64_t));
	hash_map_init(&describer->scope_map, sizeof(uint64_t));
}

void dwarf_describer_deinit(struct dwarf_describer *describer)
{
	hash_map_deinit(&describer->functions);
	hash_map_deinit(&describer->path_map);
	hash_map_deinit(&describer->scope_map);
	for (size_t i = 0; i < describer->scope_count; i++)
		dwarf_scopes_deinit(&describer->scopes[i]);
	free(describer->scopes);
	free(describer->items);
	free(describer->paths);
}

static bool describe_keep(struct dwarf_describer *d, const char *string, const char **kept, struct error *err)
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
	/* A split unit's rows and calls refer to the files of its skeleton. */
	const struct dwarf_unit *holder = unit->skeleton && unit->skeleton->has_lines ? unit->skeleton : unit;
	uint64_t key[2] = { (uintptr_t)holder, index };
	uint32_t *value;
	struct buffer text = BUFFER_INIT(MAX_TEXT_BYTES);
	bool added, has_path, ok;

	if (!hash_map_add(&d->path_map, key, (uint32_t)d->path_count, &value, &added, err))
		return false;
	if (!added) {
		*path = d->paths[*value].path;
		return true;
	}
	if (!ARRAY_RESERVE(&d->paths, &d->path_capacity, d->path_count + 1, ARRAY_MAX_IDS, err))
		return false;
	has_path = dwarf_line_path(holder->lines, holder->directory, index, &text) && !text.failed;
	/* Built outside of its sources, a file is BUILD/../src/x.c: it is where the user knows it to be. */
	if (has_path && text.data[0] == '/')
		has_path = file_normalize_path(text.data);
	ok = describe_keep(d, has_path ? text.data : "", path, err);
	buffer_deinit(&text);
	d->paths[d->path_count++] =
		(struct dwarf_described_path){ ok ? *path : "", dwarf_line_file(holder->lines, index) };
	return ok;
}

/* ---- ns::Class::fn ---- */

/* Languages whose functions have no scopes, or whose names contain them. */
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

static bool scopes_of(
	struct dwarf_describer *d, const struct dwarf_unit *unit, struct dwarf_scopes **scopes, struct error *err)
{
	uint64_t key[1] = { (uintptr_t)unit };
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&d->scopes, &d->scope_capacity, d->scope_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&d->scope_map, key, (uint32_t)d->scope_count, &value, &added, err))
		return false;
	if (added)
		dwarf_scopes_init(&d->scopes[d->scope_count++], unit);
	*scopes = &d->scopes[*value];
	return true;
}

static bool is_class(uint16_t tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/*
 * Returns whether the class is a closure. GCC gives it no name, but its members have names that only closures' members
 * have.
 */
static bool is_of_closure(const char *name)
{
	return strncmp(name, "operator()", 10) == 0 || strncmp(name, "<lambda", 7) == 0 ||
	       strncmp(name, "~<lambda", 8) == 0;
}

static void append_scope(struct dwarf_unit *unit, const struct dwarf_die *die, bool is_closure, struct buffer *text)
{
	uint16_t tag = die->abbrev->tag;
	const char *name;

	if (tag != DW_TAG_namespace && tag != DW_TAG_enumeration_type && !is_class(tag))
		return;
	name = dwarf_value_string(unit, &die->name);
	if (!name && tag == DW_TAG_namespace)
		name = "(anonymous namespace)";
	else if (!name)
		name = is_closure ? "{lambda}" : "(anonymous class)";
	buffer_printf(text, "%s::", name);
}

/*
 * Finds the next entry in the chain of abstract origins and specifications. At its end `*goes_on` is false and the
 * place is unchanged.
 */
static bool next_of_chain(
	const struct dwarf_die *die, struct dwarf_unit **unit, uint64_t *offset, bool *goes_on, struct error *err)
{
	struct dwarf_unit *next_unit;
	uint64_t next;

	*goes_on = dwarf_value_reference(*unit, &die->abstract_origin, &next_unit, &next) ||
		   dwarf_value_reference(*unit, &die->specification, &next_unit, &next);
	if (!*goes_on)
		return true;
	if (!dwarf_unit_open(next_unit, goes_on, err))
		return false;
	if (*goes_on) {
		*unit = next_unit;
		*offset = next;
	}
	return true;
}

static bool append_qualified(struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset, const char *name,
	unsigned int nesting, struct buffer *text, struct error *err);

/* Appends the function that contains a class; its name contains all scopes around it. */
static bool dwarf_describe_append_function(struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset,
	unsigned int nesting, struct buffer *text, struct error *err)
{
	const char *name = NULL;
	struct dwarf_die die;
	bool goes_on = true;

	for (unsigned int hop = 0; goes_on && hop < MAX_HOPS && dwarf_die_at(unit, offset, &die); hop++) {
		if (!name)
			name = dwarf_value_string(unit, &die.name);
		if (!next_of_chain(&die, &unit, &offset, &goes_on, err))
			return false;
	}
	if (!name || nesting == MAX_NESTING)
		return true;
	if (!append_qualified(d, unit, offset, name, nesting + 1, text, err))
		return false;
	buffer_append_string(text, "::");
	return true;
}

/* The innermost function among the scopes that has a class of its own around the target; `count`: none. */
static size_t describe_find_function(const struct dwarf_unit *unit, const uint64_t *scopes, size_t count)
{
	size_t function = count;
	bool is_in_class = false;
	struct dwarf_die die;

	for (size_t i = count; i-- > 0 && function == count;) {
		if (!dwarf_die_at(unit, scopes[i], &die))
			continue;
		if (die.abbrev->tag == DW_TAG_subprogram && is_in_class)
			function = i;
		is_in_class |= is_class(die.abbrev->tag);
	}
	return function;
}

/*
 * Appends the qualified name. `unit` and `offset` are those of the declaration, inside its scopes. Only functions that
 * contain the class count: other local entries have a linkage name, or declare something that is not local.
 */
static bool append_qualified(struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset, const char *name,
	unsigned int nesting, struct buffer *text, struct error *err)
{
	uint64_t found[DWARF_MAX_SCOPES];
	struct dwarf_scopes *scopes;
	size_t count, function;

	if (!scopes_of(d, unit, &scopes, err))
		return false;
	count = dwarf_scopes_find(scopes, offset, found);
	function = describe_find_function(unit, found, count);
	if (function < count && !dwarf_describe_append_function(d, unit, found[function], nesting, text, err))
		return false;
	for (size_t i = function < count ? function : 0; i < count; i++) {
		struct dwarf_die die;

		if (dwarf_die_at(unit, found[i], &die))
			append_scope(unit, &die, i + 1 == count && is_of_closure(name), text);
	}
	buffer_append_string(text, name);
	return true;
}

static bool qualify(
	struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset, const char **name, struct error *err)
{
	struct buffer text = BUFFER_INIT(MAX_TEXT_BYTES);
	bool ok;

	if (!(*name)[0] || is_flat_language(unit->language))
		return describe_keep(d, *name, name, err);
	ok = append_qualified(d, unit, offset, *name, 0, &text, err) &&
	     describe_keep(d, text.failed ? *name : text.data, name, err);
	buffer_deinit(&text);
	return ok;
}

/* ---- Functions ---- */

/* Takes the values that are still unknown from this entry of the chain. */
static bool describe_take(struct dwarf_describer *d, struct dwarf_unit *unit, const struct dwarf_die *die,
	struct dwarf_function *function, struct error *err)
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

static bool dwarf_describe_follow(struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset,
	struct dwarf_function *function, struct error *err)
{
	struct dwarf_die die;
	bool goes_on = true;

	for (unsigned int hop = 0; goes_on && hop < MAX_HOPS && dwarf_die_at(unit, offset, &die); hop++) {
		if (!describe_take(d, unit, &die, function, err) || !next_of_chain(&die, &unit, &offset, &goes_on, err))
			return false;
	}
	if (!function->linkage_name[0])
		return qualify(d, unit, offset, &function->name, err);
	return describe_keep(d, function->linkage_name, &function->linkage_name, err) &&
	       describe_keep(d, function->name, &function->name, err);
}

bool dwarf_describe(struct dwarf_describer *d, struct dwarf_unit *unit, uint64_t offset,
	struct dwarf_function *function, struct error *err)
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
	if (!dwarf_describe_follow(d, unit, offset, function, err))
		return false;
	d->items[d->count++] = *function;
	return true;
}
