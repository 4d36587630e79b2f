/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Line tables (DWARF 5, 6.2): the header's files, and one run of the program that resolves all addresses of a unit. */

struct dwarf_unit;

struct dwarf_line_file {
	const char *name;   /* borrowed from the image */
	uint64_t directory; /* index as stored in the table */
	const uint8_t *md5; /* of the file, DWARF_MD5_BYTES, borrowed; NULL: not told */
	const char *source; /* the text itself, borrowed; NULL: it is not embedded */
};

struct dwarf_line_header {
	const char **directories; /* borrowed names in an owned array */
	struct dwarf_line_file *files;
	size_t directory_count, directory_capacity, file_count, file_capacity;
	uint64_t program, end; /* in .debug_line */
	size_t header_bytes;   /* that were read */
	uint16_t version;
	uint8_t offset_size, address_size;
	uint8_t minimum_length, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *opcode_lengths; /* [opcode - 1] */
};

/* Reads the table of the unit. A damaged one ends early: fewer files, no program. Fails if memory runs out. */
COMMON_MUST_CHECK
bool dwarf_line_header_init(struct dwarf_line_header *header, const struct dwarf_unit *unit, struct error *err);
void dwarf_line_header_deinit(struct dwarf_line_header *header);

/*
 * Finds the path of file `index`, as entries and rows number it, made absolute if the table allows it; false if there
 * is none.
 */
COMMON_MUST_CHECK
bool dwarf_line_path(
	const struct dwarf_line_header *header, const char *unit_directory, uint64_t index, struct buffer *path);

/* A file of the table, as entries and rows number it; NULL: there is none. */
const struct dwarf_line_file *dwarf_line_file(const struct dwarf_line_header *header, uint64_t index);

/* The row of an address. */
struct dwarf_line {
	uint64_t file; /* index */
	uint32_t line; /* 0: not known */
	bool found;
};

/* Fills `lines[i]` for each of the rising addresses that a row covers. Sequences at 0, -1 and -2 are dropped code. */
void dwarf_line_match(const struct dwarf_line_header *header, const struct dwarf_unit *unit, const uint64_t *addresses,
	size_t count, struct dwarf_line *lines);
