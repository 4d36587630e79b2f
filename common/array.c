/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/array.h"

#include "common/checked.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

bool array_reserve_(void **items, size_t *capacity, size_t need, size_t item_size, size_t max, struct error *err)
{
	size_t grown = *capacity > max / 2 ? max : *capacity * 2;
	uint64_t bytes;
	void *moved;

	if (need <= *capacity)
		return true;
	if (need > max)
		return error_set(err, ERROR_LIMIT, "more than %zu items", max);
	if (grown < FIRST_CAPACITY)
		grown = max < FIRST_CAPACITY ? max : FIRST_CAPACITY;
	if (grown < need)
		grown = need;
	if (!checked_mul(grown, item_size, &bytes))
		return error_set_memory(err);
	/* Copied as bytes, because the caller's pointer has another type, which `void **` must not alias. */
	memcpy(&moved, items, sizeof(moved));
	moved = realloc(moved, bytes);
	if (!moved) {
		memory_fail(bytes);
		return error_set_memory(err);
	}
	memcpy(items, &moved, sizeof(moved));
	*capacity = grown;
	return true;
}

void array_grow_(void **items, size_t *capacity, size_t need, size_t item_size)
{
	struct error err;

	if (need > *capacity && !array_reserve_(items, capacity, need, item_size, ARRAY_MAX_IDS, &err))
		memory_end(need > SIZE_MAX / item_size ? SIZE_MAX : need * item_size);
}

bool array_zeroed_(void **items, size_t count, size_t item_size, struct error *err)
{
	void *made = calloc(count, item_size);

	memcpy(items, &made, sizeof(made));
	return made || error_set_memory(err);
}
