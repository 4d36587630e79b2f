/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/feed.h"

#include "sampler/records/record.h"

#include <stdlib.h>
#include <string.h>

void feed_pool_deinit(struct feed_pool *pool)
{
	while (pool->free) {
		struct feed_block *next = pool->free->next;

		free(pool->free);
		pool->free = next;
	}
}

static struct feed_block *feed_take_block(struct feed_pool *pool)
{
	struct feed_block *block = pool->free;

	if (block)
		pool->free = block->next;
	else
		block = malloc(sizeof(*block));
	if (!block)
		return NULL;
	block->next = NULL;
	block->records = 0;
	pool->bytes_in_use += FEED_BLOCK_BYTES;
	return block;
}

static void give_back(struct feed_pool *pool, struct feed_block *block)
{
	pool->bytes_in_use -= FEED_BLOCK_BYTES;
	block->next = pool->free;
	pool->free = block;
}

void feed_init(struct feed *feed, struct feed_pool *pool)
{
	*feed = (struct feed){ .pool = pool };
}

void feed_deinit(struct feed *feed)
{
	if (feed->block)
		give_back(feed->pool, feed->block);
	*feed = (struct feed){ 0 };
}

bool feed_room(struct feed *feed, uint8_t **into, size_t *room, struct error *err)
{
	struct feed_block *old = feed->block;

	/* An unused block is filled from its start again: it is still in the CPU's cache. */
	if (old && old->records == 0) {
		memmove(old->bytes, old->bytes + feed->read, feed_left(feed));
		feed->written = feed_left(feed);
		feed->read = 0;
	} else if (!old || FEED_BLOCK_BYTES - feed->written <= RECORD_MAX_BYTES) {
		struct feed_block *block = feed_take_block(feed->pool);

		if (!block)
			return error_set_memory(err);
		if (old)
			memcpy(block->bytes, old->bytes + feed->read, feed_left(feed));
		feed->written = old ? feed_left(feed) : 0;
		feed->read = 0;
		feed->block = block;
	}
	*into = feed->block->bytes + feed->written;
	*room = FEED_BLOCK_BYTES - feed->written;
	return true;
}

void feed_commit(struct feed *feed, size_t bytes)
{
	feed->written += bytes;
}

size_t feed_skip(struct feed *feed, size_t bytes)
{
	size_t skipped = bytes < feed_left(feed) ? bytes : feed_left(feed);

	feed->read += skipped;
	return skipped;
}

enum feed_state feed_next(struct feed *feed, const uint8_t **bytes, size_t *size, struct feed_block **block)
{
	const uint8_t *at;

	if (feed_left(feed) < RECORD_HEADER_BYTES)
		return FEED_PARTIAL;
	at = feed->block->bytes + feed->read;
	if (!record_size(at, feed_left(feed), size)) {
		size_t whole;

		/* A short record and a bad one are distinguished by parsing as if all bytes were present. */
		return record_size(at, RECORD_MAX_BYTES, &whole) ? FEED_PARTIAL : FEED_BAD;
	}
	*bytes = at;
	*block = feed->block;
	feed->block->records++;
	feed->read += *size;
	return FEED_RECORD;
}

void feed_release(struct feed *feed, struct feed_block *block)
{
	if (--block->records == 0 && block != feed->block)
		give_back(feed->pool, block);
}
