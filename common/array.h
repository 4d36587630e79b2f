/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Reserves room for `need` items in a heap array that grows by doubling. New room is not zeroed.
 *
 * items: pointer to the array pointer (owned by the caller, freed with free()); NULL at first
 * capacity: number of items that have room, in and out
 * max: the cap on items; more is ERROR_LIMIT
 */
COMMON_MUST_CHECK
bool array_reserve_(void **items, size_t *capacity, size_t need, size_t item_size, size_t max, struct error *err);

#define ARRAY_RESERVE(items, capacity, need, max, err)                                                                 \
	array_reserve_((void **)(items), (capacity), (need), sizeof(**(items)), (max), (err))

/* Ids have 32 bits. An array indexed by them holds at most this many items, so that UINT32_MAX can mean "none". */
#define ARRAY_MAX_IDS ((size_t)UINT32_MAX - 1)
