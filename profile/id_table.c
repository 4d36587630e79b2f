/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/id_table.h"

#include <stdlib.h>
#include <string.h>

bool id_table_init(struct id_table *table, size_t count, struct error *err)
{
	hash_map_init(&table->sparse, sizeof(uint64_t));
	table->dense_count = 2 * count + 1;
	if (!ARRAY_ZEROED(&table->dense, table->dense_count, err))
		return false;
	memset(table->dense, 0xff, table->dense_count * sizeof(*table->dense));
	return true;
}

void id_table_deinit(struct id_table *table)
{
	free(table->dense);
	hash_map_deinit(&table->sparse);
}

bool id_table_add(struct id_table *table, uint64_t id, size_t position, const char *what, struct error *err)
{
	uint32_t *value;
	bool added;

	if (id == 0)
		return error_set(err, ERROR_FORMAT, "%s %zu has the id 0", what, position);
	if (id < table->dense_count) {
		value = &table->dense[id];
		added = *value == HASH_MAP_NONE;
		if (added)
			*value = (uint32_t)position;
	} else if (!hash_map_add(&table->sparse, &id, (uint32_t)position, &value, &added, err)) {
		return false;
	}
	return added || error_set(err, ERROR_FORMAT, "%s id %llu is there twice", what, (unsigned long long)id);
}
