/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/hash_map.h"

#include "common/checked.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_CAPACITY = 64, MAX_COUNT = 1 << 30 };

/* Reads fewer than 8 bytes as a little-endian number; memcpy() with a variable size would be a function call. */
static inline uint64_t last_bytes(const uint8_t *pos, size_t left)
{
	uint64_t word = 0;

	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)pos[i] << (8 * i);
	return word;
}

static inline uint64_t hash_seeded(const void *bytes, size_t size, uint64_t seed)
{
	static const uint64_t k0 = 0xa0761d6478bd642f, k1 = 0xe7037ed1a0b428db;
	const uint8_t *pos = bytes;
	uint64_t hash = seed ^ hash_mix(size ^ k0, k1);
	size_t left = size;

	for (; left >= 8; pos += 8, left -= 8) {
		uint64_t word;

		memcpy(&word, pos, 8);
		hash = hash_mix(hash ^ word ^ k1, k0);
	}
	if (left > 0)
		hash = hash_mix(hash ^ last_bytes(pos, left) ^ k1, k0);
	return hash_mix(hash ^ k1, size ^ k0);
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	return hash_seeded(bytes, size, 0);
}

uint64_t hash_bytes_seeded(const void *bytes, size_t size, uint64_t seed)
{
	return hash_seeded(bytes, size, seed);
}

uint64_t hash_seed(void)
{
	uint64_t seed;

	/* Early in the boot there may be no random numbers yet; addresses are used then. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = hash_mix((uintptr_t)&seed, (uintptr_t)&hash_seed);
	return seed;
}

void hash_map_init(struct hash_map *map, size_t key_size)
{
	/* Rounded up, so that every value is aligned. */
	size_t slot_size = (2 * sizeof(uint32_t) - 1 + key_size) / sizeof(uint32_t) * sizeof(uint32_t);

	*map = (struct hash_map){ .key_size = key_size, .slot_size = slot_size, .seed = hash_seed() };
}

void hash_map_deinit(struct hash_map *map)
{
	free(map->slots);
	map->slots = NULL;
	map->capacity = map->count = 0;
}

static inline uint32_t *hash_map_value_at(const struct hash_map *map, size_t slot)
{
	return (uint32_t *)(void *)(map->slots + slot * map->slot_size);
}

static inline uint8_t *key_at(const struct hash_map *map, size_t slot)
{
	return map->slots + slot * map->slot_size + sizeof(uint32_t);
}

/* Keys of the sizes that the sampler uses are compared without a function call. */
static inline bool same_key(const uint8_t *a, const void *b, size_t size)
{
	switch (size) {
	case 4:
		return memcmp(a, b, 4) == 0;
	case 8:
		return memcmp(a, b, 8) == 0;
	case 16:
		return memcmp(a, b, 16) == 0;
	default:
		return memcmp(a, b, size) == 0;
	}
}

/* The slot that holds the key, or the free slot to which it belongs. The map is never full. */
static size_t hash_map_find_slot(const struct hash_map *map, const void *key)
{
	size_t mask = map->capacity - 1;
	size_t slot = hash_seeded(key, map->key_size, map->seed) & mask;

	while (*hash_map_value_at(map, slot) != HASH_MAP_NONE && !same_key(key_at(map, slot), key, map->key_size))
		slot = (slot + 1) & mask;
	return slot;
}

void hash_map_prefetch(const struct hash_map *map, const void *key)
{
	if (map->count)
		__builtin_prefetch(
			hash_map_value_at(map, hash_seeded(key, map->key_size, map->seed) & (map->capacity - 1)));
}

uint32_t hash_map_get(const struct hash_map *map, const void *key)
{
	return map->count ? *hash_map_value_at(map, hash_map_find_slot(map, key)) : HASH_MAP_NONE;
}

static void hash_map_put(struct hash_map *map, size_t slot, const void *key, uint32_t value)
{
	*hash_map_value_at(map, slot) = value;
	memcpy(key_at(map, slot), key, map->key_size);
}

static bool hash_map_grow(struct hash_map *map, struct error *err)
{
	struct hash_map grown = *map;
	uint64_t bytes;

	grown.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
	if (map->count >= MAX_COUNT)
		return error_set(err, ERROR_LIMIT, "more than %d keys", MAX_COUNT);
	if (!checked_mul(grown.capacity, grown.slot_size, &bytes))
		return error_set_memory(err);
	grown.slots = malloc(bytes);
	if (!grown.slots) {
		memory_fail(bytes);
		return error_set_memory(err);
	}
	for (size_t i = 0; i < grown.capacity; i++)
		*hash_map_value_at(&grown, i) = HASH_MAP_NONE;
	for (size_t i = 0; i < map->capacity; i++)
		if (*hash_map_value_at(map, i) != HASH_MAP_NONE)
			hash_map_put(&grown, hash_map_find_slot(&grown, key_at(map, i)), key_at(map, i),
				*hash_map_value_at(map, i));
	free(map->slots);
	*map = grown;
	return true;
}

bool hash_map_add(
	struct hash_map *map, const void *key, uint32_t new_value, uint32_t **value, bool *added, struct error *err)
{
	size_t slot;

	if (map->count >= map->capacity / 4 * 3 && !hash_map_grow(map, err))
		return false;
	slot = hash_map_find_slot(map, key);
	*added = *hash_map_value_at(map, slot) == HASH_MAP_NONE;
	if (*added) {
		hash_map_put(map, slot, key, new_value);
		map->count++;
	}
	*value = hash_map_value_at(map, slot);
	return true;
}

uint32_t *hash_map_enter(struct hash_map *map, const void *key, uint32_t new_value, bool *added)
{
	struct error err;
	uint32_t *value;

	if (!hash_map_add(map, key, new_value, &value, added, &err))
		memory_end(map->capacity * 2 * map->slot_size);
	return value;
}
