/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

/* What an image tells without DWARF: symbol tables, PLT entries, and where functions begin that have no name. */
struct symbols;

/* `debug` is the image's debug file or the image itself; both are borrowed for the life of the result. */
COMMON_MUST_CHECK
bool symbols_create(struct elf_image *image, struct elf_image *debug, struct symbols **symbols, struct error *err);
void symbols_destroy(struct symbols *symbols);

/*
 * The name of the function at an image address, borrowed, or NULL. Of several at one address: global before weak before local, one
 * without a leading "__" first, then the shortest, then alphabetical.
 */
const char *symbols_find(const struct symbols *symbols, uint64_t address);

/* The code of the function that symbols_find() names, half-open; false when its size is not known. */
COMMON_MUST_CHECK
bool symbols_find_bounds(const struct symbols *symbols, uint64_t address, uint64_t *low, uint64_t *high);

/* `name@plt` for an address in .plt, .plt.sec or .plt.got; the function's own name, borrowed, or NULL. */
const char *symbols_find_plt(const struct symbols *symbols, uint64_t address);

/* The start of the function that unwind information bounds; false when none holds the address. */
COMMON_MUST_CHECK
bool symbols_find_fde(const struct symbols *symbols, uint64_t address, uint64_t *start);
