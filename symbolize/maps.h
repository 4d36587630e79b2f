/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Symbols by address: the kernel's (symbolize/kallsyms.h, symbolize/kernel.h) and those of code made at run time
 * (/tmp/perf-PID.map, lines of `start size name`; linux, tools/perf/Documentation/jit-interface.txt). A jitdump
 * (symbolize/jitdump.h) is read like the latter.
 */
struct symbol_map;

struct symbol_map_symbol {
	uint64_t start, size; /* size 0: up to the next one */
	const char *name, *module;
};

struct symbol_map_hit {
	const char *name;   /* borrowed from the map */
	const char *module; /* of the kernel; "" for none */
	const char *file;   /* in which the function begins, borrowed from the map; "" not known */
	uint32_t line;      /* of that file, at the address; 0: not known */
};

/* A file that is not there is an empty map. Later lines win over earlier ones of the same place: code is thrown away and made anew.
 * Damaged lines are passed over. */
COMMON_MUST_CHECK
bool symbol_map_read_jit(const char *path, struct symbol_map **map, struct error *err);

/* One that is filled by hand: what is added copies its strings, and starts after what was added before. */
COMMON_MUST_CHECK
bool symbol_map_create(struct symbol_map **map, struct error *err);
COMMON_MUST_CHECK
bool symbol_map_add(struct symbol_map *map, const struct symbol_map_symbol *symbol, struct error *err);

void symbol_map_destroy(struct symbol_map *map);

COMMON_MUST_CHECK
bool symbol_map_find(const struct symbol_map *map, uint64_t address, struct symbol_map_hit *hit);
