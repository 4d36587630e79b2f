/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "oracle_fixture.h"
#include "tests/unit/elf/libelf_fixture.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_NESTING = 256 };

/* The functions found so far around one address, the outermost first. */
struct found {
	Dwarf_Die dies[MAX_DEPTH];
	size_t count;
	bool is_wanted; /* the unit's ranges hold the address */
};

struct resolver {
	const uint64_t *addresses;
	size_t count;
	struct arena *arena;
	struct oracle_answer *answers;
	struct found *found; /* for the addresses of the unit in work: [index - first] */
	size_t first, end;   /* of those */
	bool exhaustive;     /* also below functions that do not cover the address */
	bool out_of_memory;
	const char *directory; /* of the first unit */
};

static const char *keep(struct resolver *r, const char *string)
{
	char *copy = string && string[0] ? arena_copy_string(r->arena, string, strlen(string)) : NULL;

	if (string && string[0] && !copy)
		r->out_of_memory = true;
	return copy ? copy : "";
}

/* The first address that is not below `address`. */
static size_t lower_bound(const struct resolver *r, uint64_t address)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds a function to the chains of the addresses that it covers; whether there are any. */
static bool cover(struct resolver *r, Dwarf_Die *die, size_t depth)
{
	Dwarf_Addr base, start, end;
	bool covers = false;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		for (size_t i = lower_bound(r, start); i < r->count && r->addresses[i] < end; i++) {
			struct found *found;

			if (i < r->first || i >= r->end)
				continue;
			found = &r->found[i - r->first];
			covers = true;
			if (depth >= MAX_DEPTH)
				continue;
			found->dies[depth] = *die;
			found->count = depth + 1;
		}
	}
	return covers;
}

/* An inlined function stands between the one around it and those within it also where it says less of its code than
 * they do. */
static void stand_between(struct resolver *r, Dwarf_Die *die, size_t depth)
{
	for (size_t i = r->first; i < r->end && depth < MAX_DEPTH; i++)
		if (r->found[i - r->first].count <= depth)
			r->found[i - r->first].dies[depth] = *die;
}

static void walk(struct resolver *r, Dwarf_Die *parent, size_t depth, unsigned int nesting)
{
	Dwarf_Die die;

	if (nesting > MAX_NESTING || dwarf_child(parent, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			/* A function within another one is a function of its own. */
			if (cover(r, &die, 0))
				walk(r, &die, 1, nesting + 1);
			else if (r->exhaustive)
				walk(r, &die, 0, nesting + 1);
			break;
		case DW_TAG_inlined_subroutine:
			if (!cover(r, &die, depth) && depth == 0)
				break;
			stand_between(r, &die, depth);
			walk(r, &die, depth + 1, nesting + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_module:
		case DW_TAG_common_block:
			walk(r, &die, depth, nesting + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static const char *string_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static uint32_t small_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static const char *call_file(Dwarf_Die *inlined, Dwarf_Die *unit)
{
	uint32_t index = small_number(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count)
		return "";
	return dwarf_filesrc(files, index, NULL, NULL);
}

static void describe(struct resolver *r, Dwarf_Die *function, struct oracle_frame *frame)
{
	const char *linkage = string_attribute(function, DW_AT_linkage_name);
	int line = 0;

	if (!linkage)
		linkage = string_attribute(function, DW_AT_MIPS_linkage_name);
	frame->linkage_name = keep(r, linkage);
	frame->name = keep(r, string_attribute(function, DW_AT_name));
	frame->decl_file = keep(r, dwarf_decl_file(function));
	if (dwarf_decl_line(function, &line) == 0 && line > 0)
		frame->decl_line = (uint32_t)line;
}

/* The line table's row; of unoptimized order, the last that begins at or before the address. */
static void find_line(struct resolver *r, Dwarf_Die *unit, uint64_t address, struct oracle_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	if (!line)
		return;
	frame->file = keep(r, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = (uint32_t)number;
}

static void answer(struct resolver *r, Dwarf_Die *unit, size_t index)
{
	struct found *found = &r->found[index - r->first];
	struct oracle_frame *frames;

	if (found->count == 0)
		return;
	frames = ARENA_ARRAY(r->arena, struct oracle_frame, found->count);
	if (!frames) {
		r->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < found->count; i++) {
		Dwarf_Die *function = &found->dies[found->count - 1 - i];

		frames[i].file = "";
		describe(r, function, &frames[i]);
		if (i == 0) {
			find_line(r, unit, r->addresses[index], &frames[i]);
			continue;
		}
		/* The caller of an inlined function stands at the call. */
		frames[i].file = keep(r, call_file(&found->dies[found->count - i], unit));
		frames[i].line = small_number(&found->dies[found->count - i], DW_AT_call_line);
	}
	r->answers[index] = (struct oracle_answer){ frames, found->count };
}

static bool is_complete(const struct resolver *r)
{
	for (size_t i = r->first; i < r->end; i++)
		if (r->found[i - r->first].is_wanted && r->found[i - r->first].count == 0)
			return false;
	return true;
}

/* Where the unit's addresses lie among those asked for; false when there are none. */
static bool find_extent(const struct resolver *r, Dwarf_Die *ranges_of, size_t *first, size_t *end)
{
	Dwarf_Addr base, start, stop;
	ptrdiff_t next = 0;

	*first = SIZE_MAX;
	*end = 0;
	while ((next = dwarf_ranges(ranges_of, next, &base, &start, &stop)) > 0) {
		size_t from = lower_bound(r, start), to = lower_bound(r, stop);

		if (from >= to)
			continue;
		*first = from < *first ? from : *first;
		*end = to > *end ? to : *end;
	}
	return *first != SIZE_MAX;
}

static void mark_wanted(struct resolver *r, Dwarf_Die *ranges_of)
{
	Dwarf_Addr base, start, stop;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(ranges_of, next, &base, &start, &stop)) > 0)
		for (size_t i = lower_bound(r, start); i < r->end && r->addresses[i] < stop; i++)
			r->found[i - r->first].is_wanted = true;
}

/* `ranges_of` is the unit's skeleton where it is split. */
static bool resolve_unit(struct resolver *r, Dwarf_Die *unit, Dwarf_Die *ranges_of, struct error *err)
{
	if (!find_extent(r, ranges_of, &r->first, &r->end))
		return true;
	r->found = calloc(r->end - r->first, sizeof(*r->found));
	if (!r->found)
		return error_set_memory(err);
	mark_wanted(r, ranges_of);
	r->exhaustive = false;
	walk(r, unit, 0, 0);
	/* GCC nests lambdas below functions that do not cover them. */
	if (!is_complete(r)) {
		r->exhaustive = true;
		walk(r, unit, 0, 0);
	}
	for (size_t i = r->first; i < r->end; i++)
		if (r->answers[i].count == 0)
			answer(r, unit, i);
	free(r->found);
	r->found = NULL;
	return r->out_of_memory ? error_set_memory(err) : true;
}

static bool resolve_all(struct resolver *r, Dwarf *dwarf, struct error *err)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
		bool is_split = type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid;

		if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
			continue;
		if (!r->directory)
			r->directory = keep(r, string_attribute(&die, DW_AT_comp_dir));
		if (!resolve_unit(r, is_split ? &split : &die, &die, err))
			return false;
	}
	return true;
}

bool oracle_resolve(struct elf_image *debug, struct elf_image *alt, const uint64_t *addresses, size_t count,
	struct arena *arena, struct oracle_answer *answers, const char **directory, struct error *err)
{
	struct resolver r = { .addresses = addresses, .count = count, .arena = arena, .answers = answers };
	Elf *elf = libelf_of(debug), *alt_elf = alt ? libelf_of(alt) : NULL;
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf *alt_dwarf = alt_elf ? dwarf_begin_elf(alt_elf, DWARF_C_READ, NULL) : NULL;
	bool ok;

	*directory = "";
	if (!dwarf)
		return true;
	if (alt_dwarf)
		dwarf_setalt(dwarf, alt_dwarf);
	ok = resolve_all(&r, dwarf, err);
	if (r.directory)
		*directory = r.directory;
	dwarf_end(dwarf);
	dwarf_end(alt_dwarf);
	elf_end(elf);
	elf_end(alt_elf);
	return ok;
}
