/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * A negative cache: code of which no instruction has a rule, as far as instructions tell (scan.h). A program is sampled
 * at ever new instructions of the code that it has made, all of which would be read and searched for nothing.
 */
enum { NEGATIVE_BLOCK_BYTES = 1024, NEGATIVE_BITS = 10 };

struct negative_block {
	uint64_t owner, number; /* of the code (rule_cache.c); address / NEGATIVE_BLOCK_BYTES */
	uint8_t bits[NEGATIVE_BLOCK_BYTES / 8];
};

struct negative_cache {
	struct negative_block *blocks; /* owned */
};

COMMON_MUST_CHECK
bool negative_cache_init(struct negative_cache *cache, struct error *err);
void negative_cache_deinit(struct negative_cache *cache);

bool negative_cache_has(const struct negative_cache *cache, uint64_t owner, uint64_t address);

/* Adds the addresses from `start` up to `end`. `owner` is not 0. */
void negative_cache_add(struct negative_cache *cache, uint64_t owner, uint64_t start, uint64_t end);
