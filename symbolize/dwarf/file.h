/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The DWARF sections of one ELF file and the headers of its units (DWARF 5, 7.5.1). Reading is the standard's of
 * versions 2 to 5 in 32-bit and 64-bit form, over bytes that may be damaged: whatever makes no sense is "not there".
 */

enum dwarf_section {
	DWARF_SECTION_INFO,
	DWARF_SECTION_ABBREV,
	DWARF_SECTION_STR,
	DWARF_SECTION_LINE_STR,
	DWARF_SECTION_STR_OFFSETS,
	DWARF_SECTION_ADDR,
	DWARF_SECTION_RANGES,
	DWARF_SECTION_RNGLISTS,
	DWARF_SECTION_LINE,
	DWARF_SECTION_ARANGES,
};
enum { DWARF_SECTION_COUNT = 10 };

struct dwarf_unit;

struct dwarf_file {
	struct elf_section sections[DWARF_SECTION_COUNT]; /* size 0: not there */
	struct dwarf_file *alt;                           /* of dwz, borrowed; NULL: none */
	struct dwarf_unit *units;                         /* owned; by offset */
	size_t unit_count, unit_capacity;
	pthread_mutex_t lock; /* guards opening a unit; an open one is immutable */
	bool is_split;        /* .dwo: sections have that suffix */
	bool is_part;         /* only the first units are there */
	atomic_bool is_short; /* one was asked for that is not */
};

enum dwarf_file_kind {
	DWARF_FILE_WHOLE,
	DWARF_FILE_WITHOUT_LINES, /* as if it had no .debug_line */
	DWARF_FILE_SPLIT,         /* a .dwo file: sections have that suffix */
};

/*
 * Borrows the image for the life of the file. Without debug information there are no units. `info_bytes`: as much of
 * .debug_info is needed (dwarf_claim_extent()); UINT64_MAX: all. Pairs with dwarf_file_deinit().
 */
COMMON_MUST_CHECK
bool dwarf_file_init(struct dwarf_file *file, struct elf_image *image, enum dwarf_file_kind kind, uint64_t info_bytes,
	struct error *err);
void dwarf_file_deinit(struct dwarf_file *file);

struct byte_reader dwarf_file_reader(const struct dwarf_file *file, enum dwarf_section section);

/* The string at an offset of a section, borrowed from the image; NULL when it lies outside. */
const char *dwarf_file_string(const struct dwarf_file *file, enum dwarf_section section, uint64_t offset);

/* The unit that holds an offset of .debug_info; NULL when none does. */
struct dwarf_unit *dwarf_file_unit_at(struct dwarf_file *file, uint64_t offset);

/* The unit that begins at an offset of .debug_info; NULL when none does. */
struct dwarf_unit *dwarf_file_unit_from(const struct dwarf_file *file, uint64_t offset);

/* The length that begins units and tables; its form decides the size of offsets. */
uint64_t dwarf_read_length(struct byte_reader *r, uint8_t *offset_size);
