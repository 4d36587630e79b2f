/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "symbolize/dwarf/shared.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The DWARF sections of one ELF file and the headers of its units (DWARF 5, 7.5.1). Versions 2 to 5 are read, in the
 * 32-bit and 64-bit formats. The bytes may be damaged: malformed data count as absent.
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
	struct elf_section sections[DWARF_SECTION_COUNT]; /* size 0: absent */
	struct dwarf_file *alt;                           /* of dwz, borrowed; NULL: none */
	struct dwarf_unit *units;                         /* owned; by offset */
	size_t unit_count, unit_capacity;
	pthread_mutex_t lock; /* guards opening a unit; an open unit is immutable */
	bool is_split;        /* .dwo: sections have that suffix */
	bool is_part;         /* only the first units are present */
	atomic_bool is_short; /* a unit was needed that is not present */
	struct dwarf_shared shared;
	atomic_uint_least64_t budget[DWARF_SECTION_COUNT]; /* bytes that may still be read */
	atomic_bool is_spent;
};

enum dwarf_file_kind {
	DWARF_FILE_WHOLE,
	DWARF_FILE_WITHOUT_LINES, /* as if there were no .debug_line */
	DWARF_FILE_SPLIT,         /* a .dwo file: sections have that suffix */
};

/*
 * Borrows the image for the life of the file. Without debug information there are no units. `info_bytes`: the size of
 * .debug_info that is needed (dwarf_claim_extent()); UINT64_MAX: all. Pairs with dwarf_file_deinit().
 */
COMMON_MUST_CHECK
bool dwarf_file_init(struct dwarf_file *file, struct elf_image *image, enum dwarf_file_kind kind, uint64_t info_bytes,
	struct error *err);
void dwarf_file_deinit(struct dwarf_file *file);

struct byte_reader dwarf_file_reader(const struct dwarf_file *file, enum dwarf_section section);

/* The string at an offset of a section, borrowed from the image; NULL if it lies outside. */
const char *dwarf_file_string(struct dwarf_file *file, enum dwarf_section section, uint64_t offset);

/*
 * Counts bytes of a section that are read, or work as large. Compilers' units have bytes of their own, so what all
 * reads of a file cost is a small multiple of its size. In a hostile file many entries refer to the same bytes, and the
 * cost is a product: false as soon as the sum is more than a multiple that no compiler's file reaches. All of the
 * file's debug information counts as damaged then. Thread-safe.
 */
bool dwarf_file_spend(struct dwarf_file *file, enum dwarf_section section, uint64_t bytes);

static inline bool dwarf_file_is_spent(const struct dwarf_file *file)
{
	return atomic_load_explicit(&file->is_spent, memory_order_relaxed);
}

/* The unit that contains an offset of .debug_info; NULL if none does. */
struct dwarf_unit *dwarf_file_unit_at(struct dwarf_file *file, uint64_t offset);

/* The unit that begins at an offset of .debug_info; NULL if none does. */
struct dwarf_unit *dwarf_file_unit_from(const struct dwarf_file *file, uint64_t offset);

/* Reads the length at the start of a unit or table; its form gives the size of offsets. */
uint64_t dwarf_read_length(struct byte_reader *r, uint8_t *offset_size);
