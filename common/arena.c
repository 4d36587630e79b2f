/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/arena.h"

#include "common/checked.h"
#include "common/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 4 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t used, size; /* of the bytes */
	_Alignas(64) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t max_bytes)
{
	*arena = (struct arena){ .max_bytes = max_bytes ? max_bytes : SIZE_MAX };
}

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	arena->blocks = NULL;
	arena->total_bytes = 0;
}

/* A block is as large as the arena so far, up to a limit, so that a large arena has few blocks. */
static struct arena_block *arena_add_block(struct arena *arena, size_t need)
{
	size_t left = arena->max_bytes - arena->total_bytes;
	size_t size = arena->total_bytes < FIRST_BLOCK_BYTES ? FIRST_BLOCK_BYTES : arena->total_bytes;
	struct arena_block *block;
	uint64_t bytes;

	if (size > LARGEST_BLOCK_BYTES)
		size = LARGEST_BLOCK_BYTES;
	/* Near the cap, a smaller block is made. */
	if (size > left)
		size = left;
	if (size < need)
		size = need;
	if (size > left || !checked_add(size, sizeof(struct arena_block) + 63, &bytes))
		return NULL;
	block = aligned_alloc(64, bytes & ~(uint64_t)63);
	if (!block) {
		memory_fail(bytes);
		return NULL;
	}
	block->next = arena->blocks;
	block->used = 0;
	block->size = size;
	arena->blocks = block;
	arena->total_bytes += size;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size, size_t alignment)
{
	struct arena_block *block = arena->blocks;
	size_t start = block ? (block->used + alignment - 1) & ~(alignment - 1) : 0;
	void *memory;

	if (!block || !checked_range(start, size, block->size)) {
		block = arena_add_block(arena, size);
		if (!block)
			return NULL;
		start = 0;
	}
	memory = block->bytes + start;
	block->used = start + size;
	return memset(memory, 0, size);
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t item_size, size_t alignment)
{
	uint64_t size;

	if (!checked_mul(count, item_size, &size))
		return NULL;
	return arena_alloc(arena, size, alignment);
}

char *arena_copy_string(struct arena *arena, const char *bytes, size_t size)
{
	char *copy = size < SIZE_MAX ? arena_alloc(arena, size + 1, 1) : NULL;

	if (copy && size)
		memcpy(copy, bytes, size);
	return copy;
}
