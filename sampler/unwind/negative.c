/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/negative.h"

#include <stdlib.h>
#include <string.h>

bool negative_cache_init(struct negative_cache *cache, struct error *err)
{
	cache->blocks = calloc((size_t)1 << NEGATIVE_BITS, sizeof(*cache->blocks));
	return cache->blocks || error_set_memory(err);
}

void negative_cache_deinit(struct negative_cache *cache)
{
	free(cache->blocks);
	cache->blocks = NULL;
}

/*
 * It depends on the address of the code alone, as the place of a rule does (rule_cache.c): what is forgotten is then
 * the same in every run.
 */
static struct negative_block *block_of(const struct negative_cache *cache, uint64_t number)
{
	return &cache->blocks[hash_mix(number, 0x9e3779b97f4a7c15u) >> (64 - NEGATIVE_BITS)];
}

bool negative_cache_has(const struct negative_cache *cache, uint64_t owner, uint64_t address)
{
	const struct negative_block *block = block_of(cache, address / NEGATIVE_BLOCK_BYTES);
	size_t at = address % NEGATIVE_BLOCK_BYTES;

	return block->owner == owner && block->number == address / NEGATIVE_BLOCK_BYTES &&
	       (block->bits[at / 8] & 1u << at % 8);
}

void negative_cache_add(struct negative_cache *cache, uint64_t owner, uint64_t start, uint64_t end)
{
	for (uint64_t address = start; address < end; address++) {
		uint64_t number = address / NEGATIVE_BLOCK_BYTES;
		struct negative_block *block = block_of(cache, number);
		size_t at = address % NEGATIVE_BLOCK_BYTES;

		if (block->owner != owner || block->number != number)
			*block = (struct negative_block){ .owner = owner, .number = number };
		block->bits[at / 8] |= (uint8_t)(1u << at % 8);
	}
}
