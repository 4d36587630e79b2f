/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Symbols by address: the kernel's (symbolize/kallsyms.h, symbolize/kernel.h), those of code made at run time
 * (symbolize/jit.h). */
struct symbol_map;

struct symbol_map_symbol {
	uint64_t start, size; /* size 0: up to the next one */
	const char *name;
	const char *module; /* of the kernel; "" for none */
	const char *file;   /* in which the function begins; "" not known */
	uint32_t line;      /* of that file; 0: not known */
};

/* An empty one. What is added copies its strings, and starts after what was added before. */
COMMON_MUST_CHECK
bool symbol_map_create(struct symbol_map **map, struct error *err);
COMMON_MUST_CHECK
bool symbol_map_add(struct symbol_map *map, const struct symbol_map_symbol *symbol, struct error *err);

void symbol_map_destroy(struct symbol_map *map);

/* The one at the address, its strings borrowed from the map. */
COMMON_MUST_CHECK
bool symbol_map_find(const struct symbol_map *map, uint64_t address, struct symbol_map_symbol *found);
