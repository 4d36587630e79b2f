/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Finds whole records in bytes without copying them: bytes are written into blocks, records point into the blocks, and
 * a block is reused when the last of its records has been released. A record that the end of a block cuts is continued
 * in the next one. (Mapping the file instead costs as much, since page faults cost as much as the copy.)
 */

enum { FEED_BLOCK_BYTES = 1 << 18 };

struct feed_block {
	struct feed_block *next; /* of the free blocks */
	size_t records;          /* records still in use */
	uint8_t bytes[FEED_BLOCK_BYTES];
};

/* Blocks that several feeds share. */
struct feed_pool {
	struct feed_block *free; /* owned */
	size_t bytes_in_use;
};

void feed_pool_deinit(struct feed_pool *pool);

struct feed {
	struct feed_pool *pool;   /* borrowed */
	struct feed_block *block; /* owned: being filled; NULL at first */
	size_t read, written;     /* offsets in the block */
};

void feed_init(struct feed *feed, struct feed_pool *pool);
void feed_deinit(struct feed *feed);

/* Provides room for more bytes, at least RECORD_MAX_BYTES; call feed_commit() with the number that was written. */
COMMON_MUST_CHECK
bool feed_room(struct feed *feed, uint8_t **into, size_t *room, struct error *err);
void feed_commit(struct feed *feed, size_t bytes);

/* Number of bytes that were written but not returned as records yet. */
static inline size_t feed_left(const struct feed *feed)
{
	return feed->written - feed->read;
}

/* Drops up to `bytes` of them; returns how many. */
size_t feed_skip(struct feed *feed, size_t bytes);

enum feed_state {
	FEED_RECORD,
	FEED_PARTIAL, /* more bytes are needed */
	FEED_BAD,     /* a record shorter than its own header */
};

/* Returns the next record, which holds its block until feed_release(). */
enum feed_state feed_next(struct feed *feed, const uint8_t **bytes, size_t *size, struct feed_block **block);
void feed_release(struct feed *feed, struct feed_block *block);
