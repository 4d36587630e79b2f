/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/hash_map.h"

#include "common/checked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_CAPACITY = 64, MAX_COUNT = 1 << 30 };

/* The finalizer of wyhash (Wang Yi, public domain): one 64x64 multiplication folded to 64 bits. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Fewer than 8 bytes as a little-endian number; a memcpy() of unknown size would be a call. */
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
	uint64_t hash = seed ^ mix(size ^ k0, k1);
	size_t left = size;

	for (; left >= 8; pos += 8, left -= 8) {
		uint64_t word;

		memcpy(&word, pos, 8);
		hash = mix(hash ^ word ^ k1, k0);
	}
	if (left > 0)
		hash = mix(hash ^ last_bytes(pos, left) ^ k1, k0);
	return mix(hash ^ k1, size ^ k0);
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

	/* Early in the boot there may be no randomness yet; addresses then have to do. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = mix((uintptr_t)&seed, (uintptr_t)&hash_seed);
	return seed;
}

void hash_map_init(struct hash_map *map, size_t key_size)
{
	*map = (struct hash_map){ .key_size = key_size, .seed = hash_seed() };
}

void hash_map_deinit(struct hash_map *map)
{
	free(map->keys);
	free(map->values);
	map->keys = NULL;
	map->values = NULL;
	map->capacity = map->count = 0;
}

/* The sizes of the sampler's keys are compared without a call. */
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

/* The slot that holds the key, or the free one where it belongs. The map is never full. */
static size_t find_slot(const struct hash_map *map, const void *key)
{
	size_t mask = map->capacity - 1;
	size_t slot = hash_seeded(key, map->key_size, map->seed) & mask;

	while (map->values[slot] != HASH_MAP_NONE && !same_key(map->keys + slot * map->key_size, key, map->key_size))
		slot = (slot + 1) & mask;
	return slot;
}

uint32_t hash_map_get(const struct hash_map *map, const void *key)
{
	return map->count ? map->values[find_slot(map, key)] : HASH_MAP_NONE;
}

static bool grow(struct hash_map *map, struct error *err)
{
	struct hash_map grown = *map;
	uint64_t key_bytes;

	grown.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
	if (map->count >= MAX_COUNT)
		return error_set(err, ERROR_LIMIT, "more than %d keys", MAX_COUNT);
	if (!checked_mul(grown.capacity, grown.key_size, &key_bytes))
		return error_set_memory(err);
	grown.keys = malloc(key_bytes);
	grown.values = malloc(grown.capacity * sizeof(*grown.values));
	if (!grown.keys || !grown.values) {
		free(grown.keys);
		free(grown.values);
		return error_set_memory(err);
	}
	memset(grown.values, 0xff, grown.capacity * sizeof(*grown.values));
	for (size_t i = 0; i < map->capacity; i++) {
		const uint8_t *key = map->keys + i * map->key_size;
		size_t slot;

		if (map->values[i] == HASH_MAP_NONE)
			continue;
		slot = find_slot(&grown, key);
		memcpy(grown.keys + slot * grown.key_size, key, grown.key_size);
		grown.values[slot] = map->values[i];
	}
	free(map->keys);
	free(map->values);
	*map = grown;
	return true;
}

bool hash_map_add(struct hash_map *map, const void *key, uint32_t new_value, uint32_t **value, bool *added, struct error *err)
{
	size_t slot;

	if (map->count >= map->capacity / 4 * 3 && !grow(map, err))
		return false;
	slot = find_slot(map, key);
	*added = map->values[slot] == HASH_MAP_NONE;
	if (*added) {
		memcpy(map->keys + slot * map->key_size, key, map->key_size);
		map->values[slot] = new_value;
		map->count++;
	}
	*value = &map->values[slot];
	return true;
}
