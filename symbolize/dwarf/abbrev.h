/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Abbreviations of one unit, compiled (DWARF 5, 7.5.3): each has a program that skips an entry's attributes in as few
 * steps as its forms allow, since of nearly all entries only the end matters.
 */

/* What the sizes of forms depend on. */
struct dwarf_format {
	uint8_t address_size, offset_size;
	uint16_t version;
};

struct dwarf_attribute {
	uint16_t name;
	uint16_t form;
	int64_t constant; /* DW_FORM_implicit_const */
};

/* What the walk does with an entry. */
enum dwarf_role {
	DWARF_ROLE_OTHER,    /* no code below */
	DWARF_ROLE_FUNCTION, /* DW_TAG_subprogram */
	DWARF_ROLE_INLINED,  /* DW_TAG_inlined_subroutine */
	DWARF_ROLE_BLOCK,    /* has code, is no function */
	DWARF_ROLE_SCOPE,    /* may have functions below */
	DWARF_ROLE_TYPE,     /* seldom has */
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	bool has_code; /* an address or a list of ranges */
	bool is_odd;   /* these stand in forms that steps do not fetch: such an entry is read in full */
	enum dwarf_role role;
	uint32_t first_attribute, attribute_count;
	uint32_t first_step, step_count;
};

/* What a step fetches while it skips. */
enum dwarf_slot { DWARF_SLOT_NONE, DWARF_SLOT_LOW, DWARF_SLOT_HIGH, DWARF_SLOT_RANGES, DWARF_SLOT_SIBLING };
enum { DWARF_SLOT_COUNT = 5 };

/* One step of a skip program. */
struct dwarf_skip {
	enum dwarf_skip_kind {
		DWARF_SKIP_BYTES,    /* `size` of them */
		DWARF_SKIP_LEB128,   /* a number */
		DWARF_SKIP_STRING,   /* to the NUL */
		DWARF_SKIP_BLOCK,    /* a length of `size` bytes and as many bytes; size 0: the length is LEB128 */
		DWARF_SKIP_INDIRECT, /* the form stands in the entry */
	} kind;
	uint32_t size;
	enum dwarf_slot slot;
	uint16_t form; /* of a value that is fetched */
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items; /* by code */
	struct dwarf_attribute *attributes;
	struct dwarf_skip *steps;
	size_t count, capacity, attribute_count, attribute_capacity, step_count, step_capacity;
};

/*
 * Reads up to the end of the table at the reader, or only up to the abbreviation `until` (0: all). A damaged table ends
 * where it stops making sense. Fails for want of memory.
 */
COMMON_MUST_CHECK
bool dwarf_abbrevs_init(struct dwarf_abbrevs *abbrevs, struct byte_reader r, const struct dwarf_format *format,
	uint64_t until, struct error *err);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs);

/* For codes that do not count up from 1. */
const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* NULL: there is no such code. Compilers count codes up from 1. */
static inline const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	if (code > 0 && code <= abbrevs->count && abbrevs->items[code - 1].code == code)
		return &abbrevs->items[code - 1];
	return dwarf_abbrevs_search(abbrevs, code);
}

/* How a value of the form is skipped; false for a form that is not known. */
COMMON_MUST_CHECK
bool dwarf_form_skip(uint16_t form, const struct dwarf_format *format, struct dwarf_skip *skip);

/* Takes one step; DWARF_SKIP_INDIRECT reads the form and skips its value. */
void dwarf_skip_run(const struct dwarf_skip *skip, const struct dwarf_format *format, struct byte_reader *r);
