/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Maps keys of one fixed size to 32-bit values. Open addressing with linear probing, at most 3/4 full. Keys are
 * compared and hashed byte by byte, so a struct used as a key must have no padding. Entries cannot be removed. Not
 * thread-safe. The hash is seeded in each process against keys that a hostile file chooses.
 */
struct hash_map {
	/*
	 * owned: capacity * slot_size; a slot is a 32-bit value (HASH_MAP_NONE: free) and its key, which share a cache
	 * line
	 */
	uint8_t *slots;
	size_t key_size, slot_size;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

#define HASH_MAP_NONE UINT32_MAX

/* key_size: 1 to 64 bytes. Allocates nothing. */
void hash_map_init(struct hash_map *map, size_t key_size);
void hash_map_deinit(struct hash_map *map);

/* Prefetches the memory that a search for the key will read. */
void hash_map_prefetch(const struct hash_map *map, const void *key);

/* The value, or HASH_MAP_NONE. */
uint32_t hash_map_get(const struct hash_map *map, const void *key);

/*
 * Finds the slot of `key`, or adds it with `new_value` (not HASH_MAP_NONE) and sets `*added` to true. `*value` points
 * into the map until the next addition. Fails with ERROR_LIMIT, or ERROR_MEMORY where no memory does not end the
 * process (common/memory.h).
 */
COMMON_MUST_CHECK
bool hash_map_add(
	struct hash_map *map, const void *key, uint32_t new_value, uint32_t **value, bool *added, struct error *err);

/* Does the same and returns `*value`: no memory ends the process, as do more keys than the map may have. */
uint32_t *hash_map_enter(struct hash_map *map, const void *key, uint32_t new_value, bool *added);

/* The finalizer of wyhash (Wang Yi, public domain): one 64x64 multiplication folded to 64 bits. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * A 64-bit hash of bytes, similar to wyhash. It is the same in every process and build, since colours of functions
 * depend on it. Not for security.
 */
uint64_t hash_bytes(const void *bytes, size_t size);

/* The hash for tables of foreign keys: without the seed nobody can choose keys that collide. */
uint64_t hash_bytes_seeded(const void *bytes, size_t size, uint64_t seed);

/* A new random seed from the kernel. */
uint64_t hash_seed(void);
