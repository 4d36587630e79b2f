/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Maps the ids that a file gives to its entries (any numbers but 0) to the entries' positions. Nearly every writer
 * counts from 1: such ids are found in an array, others in a hash map.
 */
struct id_table {
	uint32_t *dense; /* owned: [id] position, or HASH_MAP_NONE */
	size_t dense_count;
	struct hash_map sparse;
};

/* Makes an empty table; `count`: how many entries will be added. */
COMMON_MUST_CHECK
bool id_table_init(struct id_table *table, size_t count, struct error *err);

/* A table of zeros may be given too. */
void id_table_deinit(struct id_table *table);

/* ERROR_FORMAT when the id is 0 or there already; `what` is the kind of entry, for the message. */
COMMON_MUST_CHECK
bool id_table_add(struct id_table *table, uint64_t id, size_t position, const char *what, struct error *err);

/* Returns the position, or HASH_MAP_NONE. */
static inline uint32_t id_table_get(const struct id_table *table, uint64_t id)
{
	return id < table->dense_count ? table->dense[id] : hash_map_get(&table->sparse, &id);
}
