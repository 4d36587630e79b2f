/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/* Names from an image without DWARF: symbol tables, PLT entries, and the bounds of functions without a name. */
struct symbols;

/*
 * `debug` is the image's debug file or the image itself; both are borrowed for the life of the result. Nothing is read
 * yet.
 */
COMMON_MUST_CHECK
bool symbols_create(struct elf_image *image, struct elf_image *debug, struct symbols **symbols, struct error *err);
void symbols_destroy(struct symbols *symbols);

/* Returns whether the image has bounds of functions: a symbol table or unwind information. */
bool symbols_any(const struct symbols *symbols);

enum { SYMBOLS_RANK_GLOBAL, SYMBOLS_RANK_WEAK, SYMBOLS_RANK_LOCAL };

/* The function at an address. */
struct symbol_hit {
	const char *name; /* borrowed from the image; NULL: none */
	/*
	 * The nearest function before the address in its segment, which does not reach up to it, where no function
	 * holds the address; NULL: none is near. Compilers place what one source file defines together.
	 */
	const char *near;
	const char *file; /* of a local symbol: the source file that precedes it in the table, without a directory; ""
			     not known */
	uint64_t start, size;
	uint8_t rank;   /* SYMBOLS_RANK_*, of its binding: lower is better */
	bool is_shared; /* other names start there too (symbolize/folded.h) */
};

/*
 * Finds the functions at image addresses (rising, without repetition) in one pass over the tables, without sorting. A
 * function covers the addresses up to its size; one without a size covers up to the next symbol or to where its
 * instructions end, within a limit. Addresses in no function are named by labels, in the same way. Of several names at
 * one start: global before weak before local, one without a leading "__" first, then the shortest, then alphabetical,
 * by their first 4,096 bytes. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool symbols_match(const struct symbols *symbols, const uint64_t *addresses, size_t count, struct symbol_hit *hits,
	struct error *err);

/* Calls `visit` with the name, the start and the rank of each function in the tables. Fails if `visit` does. */
COMMON_MUST_CHECK
bool symbols_visit_functions(const struct symbols *symbols,
	bool (*visit)(void *context, const struct symbol_hit *function, struct error *err), void *context,
	struct error *err);

/*
 * Returns whether the image was linked by lld, mold or gold, which make one function of those with the same code if
 * asked to.
 */
bool symbols_are_folded(const struct symbols *symbols);

/*
 * Returns whether the address is in code that the linker made, which no unit of debug information describes: .plt,
 * .plt.sec, .plt.got.
 */
bool symbols_is_plt(const struct symbols *symbols, uint64_t address);

/*
 * Finds the function of `name@plt` for an address in .plt, .plt.sec or .plt.got: its own name, borrowed, or NULL. Fails
 * if memory runs out.
 */
COMMON_MUST_CHECK
bool symbols_find_plt(struct symbols *symbols, uint64_t address, const char **name, struct error *err);

/* Returns whether the code at an address is what signal handlers return to (struct machine). */
bool symbols_is_signal_return(const struct symbols *symbols, uint64_t address);

/* Finds the function [start, end) in unwind information; false if none contains the address. */
COMMON_MUST_CHECK
bool symbols_find_fde(const struct symbols *symbols, uint64_t address, uint64_t *start, uint64_t *end);

/*
 * Finds the objects that hold image addresses (rising, without repetition) of data, by the same tables, in the same
 * way. Objects of threads' own storage are none: their symbols are offsets. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool symbols_match_data(struct elf_image *image, struct elf_image *debug, const uint64_t *addresses, size_t count,
	struct symbol_hit *hits, struct error *err);
