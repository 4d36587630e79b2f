/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Reserves room for `need` items in a heap array that grows by doubling. New room is not zeroed.
 *
 * items: pointer to the array pointer (owned by the caller, freed with free()); NULL at first
 * capacity: number of items that have room, in and out
 * max: the cap on items; more is ERROR_LIMIT
 *
 * No memory ends the process, or is ERROR_MEMORY (common/memory.h).
 */
COMMON_MUST_CHECK
bool array_reserve_(void **items, size_t *capacity, size_t need, size_t item_size, size_t max, struct error *err);

#define ARRAY_RESERVE(items, capacity, need, max, err)                                                                 \
	array_reserve_((void **)(items), (capacity), (need), sizeof(**(items)), (max), (err))

/*
 * Appends an item, which comes last: ARRAY_APPEND(&list->items, &list->capacity, &list->count, MOST, err, item). False:
 * there is no room, as of ARRAY_RESERVE(); the array is as it was. `count` is evaluated twice.
 */
#define ARRAY_APPEND(items, capacity, count, max, err, ...)                                                            \
	(ARRAY_RESERVE((items), (capacity), *(count) + (size_t)1, (max), (err)) &&                                     \
		((*(items))[(*(count))++] = __VA_ARGS__, true))

/*
 * The same for arrays without a cap of their own: no memory ends the process (common/memory.h), as do more than
 * ARRAY_MAX_IDS items.
 */
void array_grow_(void **items, size_t *capacity, size_t need, size_t item_size);

#define ARRAY_GROW(items, capacity, need) array_grow_((void **)(items), (capacity), (need), sizeof(**(items)))
#define ARRAY_PUSH(items, capacity, count, ...)                                                                        \
	do {                                                                                                           \
		ARRAY_GROW((items), (capacity), *(count) + (size_t)1);                                                 \
		(*(items))[(*(count))++] = __VA_ARGS__;                                                                \
	} while (0)

/*
 * Makes a heap array of `count` items that are 0, and points `*items` to it, which is owned by the caller, for a
 * process that records: elsewhere it is memory_zeroed().
 */
COMMON_MUST_CHECK
bool array_zeroed_(void **items, size_t count, size_t item_size, struct error *err);

#define ARRAY_ZEROED(items, count, err) array_zeroed_((void **)(items), (count), sizeof(**(items)), (err))

/* Ids have 32 bits. An array indexed by them holds at most this many items, so that UINT32_MAX can mean "none". */
#define ARRAY_MAX_IDS ((size_t)UINT32_MAX - 1)

/*
 * Counts the items of an array that have a member which is at most `value`: the place behind them, by binary search.
 * The array is sorted by that member, a uint64_t; NULL where there are no items.
 */
#define ARRAY_COUNT_UP_TO(items, count, member, value)                                                                 \
	_Generic((items)->member, uint64_t                                                                             \
		 : array_count_up_to_)(                                                                                \
		(items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member), (value))

static inline size_t array_count_up_to_(
	const void *items, size_t count, size_t item_size, size_t member_offset, uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t member;

		memcpy(&member, (const char *)items + middle * item_size + member_offset, sizeof(member));
		if (member <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
