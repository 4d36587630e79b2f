/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The abbreviations of one unit, compiled (DWARF 5, 7.5.3): each has a program that skips an entry's attributes in as
 * few steps as its forms allow, since most entries are only skipped.
 */

/* The properties of a unit that the sizes of forms depend on. */
struct dwarf_format {
	uint8_t address_size, offset_size;
	uint16_t version;
};

struct dwarf_attribute {
	uint16_t name;
	uint16_t form;
	int64_t constant; /* DW_FORM_implicit_const */
};

/* The treatment of an entry by the walk. */
enum dwarf_role {
	DWARF_ROLE_OTHER,    /* has no code below */
	DWARF_ROLE_FUNCTION, /* DW_TAG_subprogram */
	DWARF_ROLE_INLINED,  /* DW_TAG_inlined_subroutine */
	DWARF_ROLE_BLOCK,    /* has code, but is no function */
	DWARF_ROLE_SCOPE,    /* may have functions below */
	DWARF_ROLE_TYPE,     /* rarely has functions below */
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	bool has_code; /* an address or a list of ranges */
	bool is_odd;   /* its code is given by forms that steps do not fetch: such an entry is read in full */
	enum dwarf_role role;
	uint32_t first_attribute, attribute_count;
	uint32_t first_step, step_count;
};

/* The values that a step can fetch. */
enum dwarf_slot { DWARF_SLOT_NONE, DWARF_SLOT_LOW, DWARF_SLOT_HIGH, DWARF_SLOT_RANGES, DWARF_SLOT_SIBLING };
enum { DWARF_SLOT_COUNT = 5 };

/* One step of a skip program. */
struct dwarf_skip {
	enum dwarf_skip_kind {
		DWARF_SKIP_BYTES,    /* `size` of them */
		DWARF_SKIP_LEB128,   /* a number */
		DWARF_SKIP_STRING,   /* to the NUL */
		DWARF_SKIP_BLOCK,    /* a length of `size` bytes and as many bytes; size 0: the length is LEB128 */
		DWARF_SKIP_INDIRECT, /* the form is stored in the entry */
	} kind;
	uint32_t size;
	enum dwarf_slot slot;
	uint16_t form; /* of a fetched value */
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items; /* by code */
	struct dwarf_attribute *attributes;
	struct dwarf_skip *steps;
	size_t count, capacity, attribute_count, attribute_capacity, step_count, step_capacity;
	size_t bytes; /* of the section that were read */
};

/*
 * Reads up to the end of the table at the reader, or up to the abbreviation `until` (0: all). A damaged table ends at
 * its first malformed entry, as one does that is larger than those of any compiler. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool dwarf_abbrevs_init(struct dwarf_abbrevs *abbrevs, struct byte_reader r, const struct dwarf_format *format,
	uint64_t until, struct error *err);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs);

/* Searches codes that do not count up from 1. */
const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* NULL if there is no such code. Compilers usually count codes up from 1. */
static inline const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	if (code > 0 && code <= abbrevs->count && abbrevs->items[code - 1].code == code)
		return &abbrevs->items[code - 1];
	return dwarf_abbrevs_search(abbrevs, code);
}

/* Tells how to skip a value of the form; false for an unknown form. */
COMMON_MUST_CHECK
bool dwarf_form_skip(uint16_t form, const struct dwarf_format *format, struct dwarf_skip *skip);

/* Takes one step; DWARF_SKIP_INDIRECT reads the form and skips its value. */
void dwarf_skip_run(const struct dwarf_skip *skip, const struct dwarf_format *format, struct byte_reader *r);
