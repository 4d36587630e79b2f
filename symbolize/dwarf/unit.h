/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/abbrev.h"
#include "symbolize/dwarf/file.h"
#include "symbolize/dwarf/line.h"

/* An attribute's value as stored in the entry; form 0: the entry has no such attribute. */
struct dwarf_value {
	uint16_t form;
	uint64_t number;    /* constants, offsets, indexes, addresses */
	const char *string; /* DW_FORM_string, borrowed */
};

/* A unit of .debug_info. The first part is read with the file, the rest by dwarf_unit_open(). */
struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t offset, first_die, end; /* in .debug_info */
	uint64_t abbrev_offset, dwo_id;
	uint16_t version;
	uint8_t type; /* DW_UT_* */
	uint8_t address_size, offset_size;
	bool is_readable;

	bool is_open;
	const struct dwarf_abbrevs *abbrevs; /* borrowed from the file */
	uint16_t language;
	uint64_t low_pc;
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	struct dwarf_value low_value, high_value, ranges_value; /* of the root entry */
	const char *directory, *name, *dwo_name;                /* borrowed from the image; "" unknown */
	uint64_t line_offset;
	uint64_t str_offsets_start, rnglists_start; /* of a packaged unit: where its tables begin */
	bool has_lines;
	const struct dwarf_line_header *lines; /* directories and files, borrowed from the file; never NULL */
	const struct dwarf_unit *skeleton;     /* of a split unit: it has the addresses, ranges and lines */
};

/* The attributes of an entry that symbolizing needs, for the walk and for names. */
struct dwarf_die {
	uint64_t offset, after; /* `after`: the offset after the attributes */
	const struct dwarf_abbrev *abbrev;
	struct dwarf_value low_pc, high_pc, ranges, sibling, abstract_origin, specification, name, linkage_name,
		decl_file, decl_line, call_file, call_line;
};

/*
 * Reads abbreviations, the root entry and the file table once; thread-safe. `*is_open` is false if the unit is damaged,
 * or of an unknown version: it must not be used then. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool dwarf_unit_open(struct dwarf_unit *unit, bool *is_open, struct error *err);

/*
 * Reads the root entry only, into a unit that is a copy of the caller's and has no abbreviations: cheap, for asking
 * which addresses a unit covers.
 */
COMMON_MUST_CHECK
bool dwarf_unit_read_root(struct dwarf_unit *unit, struct error *err);

/* A reader over .debug_info up to the unit's end, at `offset`. */
struct byte_reader dwarf_unit_reader(const struct dwarf_unit *unit, uint64_t offset);
struct dwarf_format dwarf_unit_format(const struct dwarf_unit *unit);

/* Reads one attribute's value. False when damaged. */
COMMON_MUST_CHECK
bool dwarf_value_read(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_attribute *attribute,
	struct dwarf_value *value);

/* Reads the attributes behind an entry's code. False when damaged. */
COMMON_MUST_CHECK
bool dwarf_die_read(
	const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev, struct dwarf_die *die);

/* Finds the entry at an offset of an open unit; false when there is none. */
COMMON_MUST_CHECK
bool dwarf_die_at(const struct dwarf_unit *unit, uint64_t offset, struct dwarf_die *die);

/* The value that a skip program fetched; form 0: the entry has no such attribute. */
struct dwarf_scan {
	uint64_t numbers[DWARF_SLOT_COUNT];
	uint16_t forms[DWARF_SLOT_COUNT];
};

/* Skips an entry's attributes and fetches those that decide about the walk. */
void dwarf_die_scan(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev,
	struct dwarf_scan *scan);

/*
 * Finds where the next entry begins that is not below this one; 0 when the entry does not say it. The reader stands
 * behind it.
 */
uint64_t dwarf_scan_sibling(const struct dwarf_unit *unit, const struct byte_reader *r, const struct dwarf_scan *scan);

static inline struct dwarf_value dwarf_scan_value(const struct dwarf_scan *scan, enum dwarf_slot slot)
{
	return (struct dwarf_value){ .form = scan->forms[slot], .number = scan->forms[slot] ? scan->numbers[slot] : 0 };
}

/* Skips an entry's attributes. */
void dwarf_die_skip(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev);

/*
 * Finds where the entry after this one and all below it begins, by DW_AT_sibling; 0 when the entry does not say it. The
 * reader stands behind the entry's code and moves behind its attributes.
 */
uint64_t dwarf_die_sibling(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev);

/* Skips an entry and all below it, the reader behind its code. Nesting costs no stack. */
void dwarf_die_skip_tree(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev);

/* Reads what a value stands for. False where it is absent, of another class, or points nowhere. */
COMMON_MUST_CHECK
bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *address);
const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value); /* NULL: none */
uint32_t dwarf_value_small(const struct dwarf_value *value); /* 0: none, or too large */

/* Finds the entry that a reference leads to: its unit (perhaps another one, not yet open) and offset. */
COMMON_MUST_CHECK
bool dwarf_value_reference(
	struct dwarf_unit *unit, const struct dwarf_value *value, struct dwarf_unit **target, uint64_t *offset);

/* Reads an entry of .debug_addr. */
COMMON_MUST_CHECK
bool dwarf_unit_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *address);
