/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

/* What an image tells without DWARF: symbol tables, PLT entries, and where functions begin that have no name. */
struct symbols;

/* `debug` is the image's debug file or the image itself; both are borrowed for the life of the result. Reads nothing
 * yet. */
COMMON_MUST_CHECK
bool symbols_create(struct elf_image *image, struct elf_image *debug, struct symbols **symbols, struct error *err);
void symbols_destroy(struct symbols *symbols);

/* Whether there is anything that bounds functions: a symbol table or unwind information. */
bool symbols_any(const struct symbols *symbols);

/* The function at an address. */
struct symbol_hit {
	const char *name; /* borrowed from the image; NULL: none */
	const char *file; /* of a local symbol: the source that the table names before it, without a directory; "" not
			     known */
	uint64_t start, size;
	uint8_t rank; /* of its binding: lower is better */
};

/*
 * Finds the functions at image addresses (rising, without repetition) in one pass over the tables, sorting nothing. A
 * function holds the addresses up to its size; one without a size those up to the next symbol, within reason; what no
 * function holds is a label's that is no function, likewise. Of several names at one start: global before weak before
 * local, one without a leading "__" first, then the shortest, then alphabetical. Fails for want of memory.
 */
COMMON_MUST_CHECK
bool symbols_match(const struct symbols *symbols, const uint64_t *addresses, size_t count, struct symbol_hit *hits,
	struct error *err);

/* Whether the linker made what is there, so that no unit of debug information describes it: .plt, .plt.sec, .plt.got.
 */
bool symbols_is_plt(const struct symbols *symbols, uint64_t address);

/* `name@plt` for an address in .plt, .plt.sec or .plt.got: the function's own name, borrowed, or NULL. Fails for want
 * of memory. */
COMMON_MUST_CHECK
bool symbols_find_plt(struct symbols *symbols, uint64_t address, const char **name, struct error *err);

/* The function [start, end) that unwind information bounds; false when none holds the address. */
COMMON_MUST_CHECK
bool symbols_find_fde(const struct symbols *symbols, uint64_t address, uint64_t *start, uint64_t *end);
