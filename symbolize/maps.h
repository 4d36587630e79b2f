/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/placement.h"
#include "symbolize/symbolize.h"

/* Symbols by address: the kernel's (symbolize/kallsyms.h, symbolize/kernel.h), those of code made at run time
 * (symbolize/jit.h). */
struct symbol_map;

struct symbol_map_symbol {
	uint64_t start, size; /* size 0: up to the next symbol */
	const char *name;
	const char *module;         /* of the kernel; "": none */
	const char *file;           /* in which the function begins; "" not known */
	uint32_t line;              /* of that file; 0: not known */
	struct placement_time time; /* of code made at run time: when it came to stand there */
};

/*
 * Creates an empty map. Added symbols are copied, and must be added in rising order; of equal starts, in the order in
 * which they came to stand there.
 */
COMMON_MUST_CHECK
bool symbol_map_create(struct symbol_map **map, struct error *err);
COMMON_MUST_CHECK
bool symbol_map_add(struct symbol_map *map, const struct symbol_map_symbol *symbol, struct error *err);

void symbol_map_destroy(struct symbol_map *map);

/* The symbols that start at the address, one after another, the last of which stands there now; borrowed. */
const struct symbol_map_symbol *symbol_map_starting_at(const struct symbol_map *map, uint64_t address, size_t *count);

/* Finds the symbol at the address, the last if there were several; its strings are borrowed from the map. */
COMMON_MUST_CHECK
bool symbol_map_find(const struct symbol_map *map, uint64_t address, struct symbol_map_symbol *found);

enum { SYMBOL_MAP_NAME_BYTES = 1024 };

/* Gives the frame of a symbol: its file is borrowed from the map, its name is written to `name`. */
void symbol_map_symbol_frame(const struct symbol_map_symbol *symbol, bool is_kernel, struct symbolize_frame *frame,
	char name[SYMBOL_MAP_NAME_BYTES]);

/* Does the same of the symbol at the address. False if the map has none. */
COMMON_MUST_CHECK
bool symbol_map_frame(const struct symbol_map *map, uint64_t address, bool is_kernel, struct symbolize_frame *frame,
	char name[SYMBOL_MAP_NAME_BYTES]);
