/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/maps.h"

#include "symbolize/jitdump.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 1 << 26 };
static const size_t max_map_bytes = (size_t)1 << 30;

struct map_entry {
	uint64_t start, size; /* size 0: up to the next one */
	const char *name, *module;
	struct jitdump_lines lines; /* none: no entries */
	size_t order;               /* of arrival */
};

struct symbol_map {
	struct buffer text; /* the file; names point into it */
	struct arena names; /* of symbols that came without a file */
	struct map_entry *entries;
	size_t count, capacity;
};

bool symbol_map_create(struct symbol_map **map, struct error *err)
{
	struct symbol_map *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	buffer_init(&made->text, max_map_bytes);
	arena_init(&made->names, max_map_bytes);
	*map = made;
	return true;
}

static bool read_text(const char *path, struct symbol_map **map, struct error *err)
{
	struct symbol_map *made = NULL;
	struct error why;

	if (!symbol_map_create(&made, err))
		return false;
	if (!file_read(path, &made->text, &why) && why.code != ERROR_NOT_FOUND && why.code != ERROR_PERMISSION) {
		symbol_map_destroy(made);
		*err = why;
		return false;
	}
	*map = made;
	return true;
}

void symbol_map_destroy(struct symbol_map *map)
{
	if (!map)
		return;
	buffer_deinit(&map->text);
	arena_deinit(&map->names);
	free(map->entries);
	free(map);
}

static bool add(struct symbol_map *map, const struct map_entry *entry, struct error *err)
{
	if (!ARRAY_RESERVE(&map->entries, &map->capacity, map->count + 1, MAX_LINES, err))
		return false;
	map->entries[map->count] = *entry;
	map->entries[map->count].order = map->count;
	map->count++;
	return true;
}

bool symbol_map_add(struct symbol_map *map, const struct symbol_map_symbol *symbol, struct error *err)
{
	const struct map_entry entry = {
		.start = symbol->start,
		.size = symbol->size,
		.name = arena_copy_string(&map->names, symbol->name, strlen(symbol->name)),
		.module = arena_copy_string(&map->names, symbol->module, strlen(symbol->module)),
	};

	if (!entry.name || !entry.module)
		return error_set_memory(err);
	return add(map, &entry, err);
}

static int compare_entries(const void *left, const void *right)
{
	const struct map_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_entries(struct symbol_map *map)
{
	if (map->count > 1)
		qsort(map->entries, map->count, sizeof(*map->entries), compare_entries);
}

/* `start size name`, numbers in hex with or without 0x; the name runs to the end of the line. */
static bool take_jit_line(struct symbol_map *map, char *line, struct error *err)
{
	struct map_entry entry = { .module = "" };
	char *pos, *end;

	entry.start = strtoull(line, &pos, 16);
	if (pos == line || *pos != ' ')
		return true;
	entry.size = strtoull(pos + 1, &end, 16);
	if (end == pos + 1 || *end != ' ' || end[1] == '\0' || entry.size == 0)
		return true;
	entry.name = end + 1;
	return add(map, &entry, err);
}

static char *next_line(char **pos)
{
	char *line = *pos, *end;

	if (!line || *line == '\0')
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	*pos = end ? end + 1 : line + strlen(line);
	return line;
}

/* What was made anew over older code hides it: of overlapping entries the later stays whole. */
static void drop_overwritten(struct symbol_map *map)
{
	size_t kept = 0;

	sort_entries(map);
	for (size_t i = 0; i < map->count; i++) {
		struct map_entry entry = map->entries[i];
		bool hidden = false;

		while (kept > 0 && map->entries[kept - 1].start + map->entries[kept - 1].size > entry.start) {
			struct map_entry *before = &map->entries[kept - 1];

			if (before->order > entry.order) {
				hidden = true;
				break;
			}
			before->size = entry.start - before->start;
			if (before->size > 0)
				break;
			kept--;
		}
		if (!hidden)
			map->entries[kept++] = entry;
	}
	map->count = kept;
}

/* The name and the lines of the function that moved here. */
static void take_moved(const struct symbol_map *map, uint32_t from, struct map_entry *entry)
{
	entry->name = from == HASH_MAP_NONE ? "" : map->entries[from].name;
	if (from == HASH_MAP_NONE)
		return;
	entry->lines.entries = map->entries[from].lines.entries;
	entry->lines.offset = map->entries[from].lines.offset + (map->entries[from].start - entry->start);
}

/* What moved takes its name along. */
static bool take_jitdump(struct symbol_map *map, struct jitdump *dump, struct error *err)
{
	struct hash_map known; /* number -> entry */
	struct jitdump_code code;
	bool ok = true;

	hash_map_init(&known, sizeof(uint64_t));
	while (ok && jitdump_next(dump, &code)) {
		struct map_entry entry = { code.start, code.size, code.name, "", code.lines, 0 };
		uint32_t *index;
		bool added;

		if (!entry.name) {
			uint32_t named = hash_map_get(&known, &code.index);

			take_moved(map, named, &entry);
		}
		if (entry.name[0] == '\0' || entry.size > UINT64_MAX - entry.start)
			continue;
		ok = hash_map_add(&known, &code.index, (uint32_t)map->count, &index, &added, err);
		if (ok)
			*index = (uint32_t)map->count;
		ok = ok && add(map, &entry, err);
	}
	hash_map_deinit(&known);
	return ok;
}

/* perf's map or a jitdump: their first bytes tell. */
static bool take_jit(struct symbol_map *map, struct error *err)
{
	struct jitdump dump;
	char *line, *pos = map->text.data;

	if (jitdump_init(&dump, map->text.data, map->text.size))
		return take_jitdump(map, &dump, err);
	while ((line = next_line(&pos)))
		if (!take_jit_line(map, line, err))
			return false;
	return true;
}

bool symbol_map_read_jit(const char *path, struct symbol_map **map, struct error *err)
{
	struct symbol_map *made;

	if (!read_text(path, &made, err))
		return false;
	if (!take_jit(made, err)) {
		symbol_map_destroy(made);
		return false;
	}
	drop_overwritten(made);
	*map = made;
	return true;
}

bool symbol_map_find(const struct symbol_map *map, uint64_t address, struct symbol_map_hit *hit)
{
	size_t low = 0, high = map->count;
	const struct map_entry *found;
	const char *file;
	uint32_t line;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	found = &map->entries[low - 1];
	if (found->size > 0 && address - found->start >= found->size)
		return false;
	*hit = (struct symbol_map_hit){ .name = found->name, .module = found->module, .file = "" };
	if (jitdump_find_line(&found->lines, address, &file, &line)) {
		hit->file = file;
		hit->line = line;
	}
	return true;
}
