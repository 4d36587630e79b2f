/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/*
 * An allocator whose memory is freed as a whole. Blocks grow geometrically, and allocated memory never moves. Not
 * thread-safe. `max_bytes` caps the sum of all blocks (0: SIZE_MAX).
 */
struct arena {
	struct arena_block *blocks;
	size_t total_bytes;
	size_t max_bytes;
};

void arena_init(struct arena *arena, size_t max_bytes);
void arena_deinit(struct arena *arena);

/*
 * Zeroed memory, aligned to `alignment` (a power of two, at most 64); NULL when the cap is exhausted, or memory where
 * that does not end the process (common/memory.h).
 */
void *arena_alloc(struct arena *arena, size_t size, size_t alignment);

/* `count` zeroed items; NULL also if the product overflows. */
void *arena_alloc_array(struct arena *arena, size_t count, size_t item_size, size_t alignment);

/* A NUL-terminated copy of `size` bytes, or NULL. */
char *arena_copy_string(struct arena *arena, const char *bytes, size_t size);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc_array((arena), (count), sizeof(type), _Alignof(type)))
