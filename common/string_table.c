/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/string_table.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/hash_map.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

/* A profile has millions. */
struct string_table_entry {
	const char *bytes; /* in the arena */
	uint32_t hash, size;
};

struct string_table {
	struct arena arena;
	size_t bytes, max_bytes; /* of all strings, without their NULs */
	uint64_t seed;
	struct string_table_entry *entries;
	size_t count, capacity;
	uint32_t *slots; /* ids by hash; linear probing, at most half full; UINT32_MAX: free */
	size_t slot_count;
};

static uint32_t hash_string(const struct string_table *table, const char *bytes, size_t size)
{
	return (uint32_t)hash_bytes_seeded(bytes, size, table->seed);
}

static uint32_t *string_table_find_slot(const struct string_table *table, const char *bytes, size_t size, uint32_t hash)
{
	size_t mask = table->slot_count - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t *slot = &table->slots[i];
		const struct string_table_entry *entry;

		if (*slot == UINT32_MAX)
			return slot;
		entry = &table->entries[*slot];
		if (entry->hash == hash && entry->size == size && (size == 0 || memcmp(entry->bytes, bytes, size) == 0))
			return slot;
	}
}

static bool grow_slots(struct string_table *table, struct error *err)
{
	size_t slot_count = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots = malloc(slot_count * sizeof(*slots));

	if (!slots) {
		memory_fail(slot_count * sizeof(*slots));
		return error_set_memory(err);
	}
	memset(slots, 0xff, slot_count * sizeof(*slots));
	free(table->slots);
	table->slots = slots;
	table->slot_count = slot_count;
	for (uint32_t id = 0; id < table->count; id++) {
		const struct string_table_entry *entry = &table->entries[id];

		*string_table_find_slot(table, entry->bytes, entry->size, entry->hash) = id;
	}
	return true;
}

bool string_table_create(size_t max_bytes, struct string_table **table, struct error *err)
{
	struct string_table *made = calloc(1, sizeof(*made));
	uint32_t id;

	if (!made) {
		memory_fail(sizeof(*made));
		return error_set_memory(err);
	}
	arena_init(&made->arena, 0);
	made->max_bytes = max_bytes;
	made->seed = hash_seed();
	if (!string_table_add(made, "", 0, &id, err)) {
		string_table_destroy(made);
		return false;
	}
	*table = made;
	return true;
}

void string_table_destroy(struct string_table *table)
{
	if (!table)
		return;
	arena_deinit(&table->arena);
	free(table->entries);
	free(table->slots);
	free(table);
}

bool string_table_add(struct string_table *table, const char *bytes, size_t size, uint32_t *id, struct error *err)
{
	uint32_t hash = hash_string(table, bytes, size), *slot;
	char *copy;

	if (table->count >= table->slot_count / 2 && !grow_slots(table, err))
		return false;
	slot = string_table_find_slot(table, bytes, size, hash);
	if (*slot == UINT32_MAX) {
		if (!ARRAY_RESERVE(&table->entries, &table->capacity, table->count + 1, ARRAY_MAX_IDS, err))
			return false;
		if (size > table->max_bytes - table->bytes || size > UINT32_MAX)
			return error_set(err, ERROR_LIMIT, "more than %zu bytes of names", table->max_bytes);
		copy = arena_copy_string(&table->arena, bytes, size);
		if (!copy)
			return error_set_memory(err);
		table->bytes += size;
		table->entries[table->count] =
			(struct string_table_entry){ .bytes = copy, .hash = hash, .size = (uint32_t)size };
		*slot = (uint32_t)table->count++;
	}
	*id = *slot;
	return true;
}

uint32_t string_table_enter(struct string_table *table, const char *bytes, size_t size)
{
	struct error err;
	uint32_t id;

	if (!string_table_add(table, bytes, size, &id, &err))
		memory_end(size);
	return id;
}

struct string_table *string_table_begin(size_t max_bytes)
{
	struct string_table *table;
	struct error err;

	if (!string_table_create(max_bytes, &table, &err))
		memory_end(sizeof(*table));
	return table;
}

uint32_t string_table_enter_text(struct string_table *table, const char *format, va_list args)
{
	struct error err;
	uint32_t id;

	if (!string_table_add_text(table, &id, format, args, &err))
		memory_end(1);
	return id;
}

bool string_table_add_text(
	struct string_table *table, uint32_t *id, const char *format, va_list args, struct error *err)
{
	char text[1024];
	int size = vsnprintf(text, sizeof(text), format, args);

	if (size < 0)
		return error_set_memory(err);
	return string_table_add(table, text, (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1, id, err);
}

uint32_t string_table_find(const struct string_table *table, const char *bytes, size_t size)
{
	return *string_table_find_slot(table, bytes, size, hash_string(table, bytes, size));
}

const char *string_table_get(const struct string_table *table, uint32_t id)
{
	return table->entries[id].bytes;
}

size_t string_table_size(const struct string_table *table, uint32_t id)
{
	return table->entries[id].size;
}

uint32_t string_table_count(const struct string_table *table)
{
	return (uint32_t)table->count;
}
