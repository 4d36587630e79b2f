/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds rows of sorted arrays. */
#include "diff/commits/rows.h"

#include <string.h>

static uint32_t commits_rows_value_at(const struct rows *rows, size_t row)
{
	uint32_t value;

	memcpy(&value, (const char *)rows->items + row * rows->item_bytes + rows->offset, sizeof(value));
	return value;
}

size_t rows_find(const struct rows *rows, uint32_t value, size_t *found)
{
	size_t low = BISECT(rows->count, i, commits_rows_value_at(rows, i) < value), first;

	first = low;
	while (low < rows->count && commits_rows_value_at(rows, low) == value)
		low++;
	*found = low - first;
	return first;
}
