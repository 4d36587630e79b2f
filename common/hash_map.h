/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * From keys of one fixed size to 32-bit values. Open addressing with linear probing, at most 3/4 full; keys are
 * compared and hashed byte by byte, so a struct used as a key must have no padding. There is no removal: ids are for
 * ever. Not thread-safe. Hashing is seeded per process against keys chosen by a hostile file.
 */
struct hash_map {
	uint8_t *slots; /* owned: capacity * slot_size, each a 32-bit value (HASH_MAP_NONE: free) and its key, for one
			   miss of the cache */
	size_t key_size, slot_size;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

#define HASH_MAP_NONE UINT32_MAX

/* key_size: 1 to 64 bytes. Allocates nothing yet. */
void hash_map_init(struct hash_map *map, size_t key_size);
void hash_map_deinit(struct hash_map *map);

/* Fetches what looking the key up will read. */
void hash_map_prefetch(const struct hash_map *map, const void *key);

/* The value, or HASH_MAP_NONE. */
uint32_t hash_map_get(const struct hash_map *map, const void *key);

/*
 * The slot of `key`; when it was not there it is added with `new_value` (anything but HASH_MAP_NONE) and `*added` is
 * true.
 * `*value` borrows the slot until the next addition. Fails with ERROR_MEMORY or ERROR_LIMIT.
 */
COMMON_MUST_CHECK
bool hash_map_add(
	struct hash_map *map, const void *key, uint32_t new_value, uint32_t **value, bool *added, struct error *err);

/* The finalizer of wyhash (Wang Yi, public domain): one 64x64 multiplication folded to 64 bits. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A good 64-bit hash of bytes, the same in every process and build (function colours rest on it): wyhash-like, not for
 * security. */
uint64_t hash_bytes(const void *bytes, size_t size);

/* The same, for tables of foreign keys: whoever does not know the seed cannot choose keys that collide. */
uint64_t hash_bytes_seeded(const void *bytes, size_t size, uint64_t seed);

/* A fresh seed, from the kernel. */
uint64_t hash_seed(void);
