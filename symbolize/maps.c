/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/maps.h"

#include <stdlib.h>
#include <string.h>

static const size_t max_name_bytes = (size_t)1 << 30;

struct symbol_map {
	struct symbol_map_symbol *symbols; /* by their start */
	size_t count, capacity;
	struct arena strings;
};

bool symbol_map_create(struct symbol_map **map, struct error *err)
{
	struct symbol_map *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	arena_init(&made->strings, max_name_bytes);
	*map = made;
	return true;
}

void symbol_map_destroy(struct symbol_map *map)
{
	if (!map)
		return;
	arena_deinit(&map->strings);
	free(map->symbols);
	free(map);
}

static const char *symbolize_maps_copy(struct symbol_map *map, const char *string)
{
	return string[0] ? arena_copy_string(&map->strings, string, strlen(string)) : "";
}

bool symbol_map_add(struct symbol_map *map, const struct symbol_map_symbol *symbol, struct error *err)
{
	struct symbol_map_symbol added = *symbol;

	added.name = symbolize_maps_copy(map, symbol->name);
	added.module = symbolize_maps_copy(map, symbol->module);
	added.file = symbolize_maps_copy(map, symbol->file);
	if (!added.name || !added.module || !added.file)
		return error_set_memory(err);
	return ARRAY_APPEND(&map->symbols, &map->capacity, &map->count, ARRAY_MAX_IDS, err, added);
}

const struct symbol_map_symbol *symbol_map_starting_at(const struct symbol_map *map, uint64_t address, size_t *count)
{
	size_t end = ARRAY_COUNT_UP_TO(map->symbols, map->count, start, address), first = end;

	while (first > 0 && map->symbols[first - 1].start == address)
		first--;
	*count = end - first;
	return *count > 0 ? &map->symbols[first] : NULL;
}

bool symbol_map_find(const struct symbol_map *map, uint64_t address, struct symbol_map_symbol *found)
{
	size_t below = ARRAY_COUNT_UP_TO(map->symbols, map->count, start, address);
	const struct symbol_map_symbol *symbol;

	if (below == 0)
		return false;
	symbol = &map->symbols[below - 1];
	if (symbol->size > 0 && address - symbol->start >= symbol->size)
		return false;
	*found = *symbol;
	return true;
}

/*
 * The name without the prefix of padding. Kernels reserve room before their functions, and call it by another name. A
 * function that was interrupted at its first instruction is looked up there, by the previous address, as return
 * addresses are.
 */
static const char *kernel_name(const char *symbol)
{
	static const char room[] = "__pfx_";

	return strncmp(symbol, room, strlen(room)) == 0 ? symbol + strlen(room) : symbol;
}

void symbol_map_symbol_frame(const struct symbol_map_symbol *symbol, bool is_kernel, struct symbolize_frame *frame,
	char name[SYMBOL_MAP_NAME_BYTES])
{
	snprintf(name, SYMBOL_MAP_NAME_BYTES, "%.900s%s%.100s", is_kernel ? kernel_name(symbol->name) : symbol->name,
		symbol->module[0] ? " " : "", symbol->module);
	*frame = (struct symbolize_frame){ .name = name,
		.linkage_name = "",
		.file = symbol->file,
		.decl_file = "",
		.line = symbol->line,
		.source = is_kernel ? PROFILE_NAME_KALLSYMS : PROFILE_NAME_JIT };
}

bool symbol_map_frame(const struct symbol_map *map, uint64_t address, bool is_kernel, struct symbolize_frame *frame,
	char name[SYMBOL_MAP_NAME_BYTES])
{
	struct symbol_map_symbol hit;

	if (!symbol_map_find(map, address, &hit))
		return false;
	symbol_map_symbol_frame(&hit, is_kernel, frame, name);
	return true;
}
