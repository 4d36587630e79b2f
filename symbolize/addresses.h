/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stddef.h>
#include <stdint.h>

/* Compares two addresses, for qsort() and bsearch(). */
int addresses_compare(const void *left, const void *right);

/* A sorted copy in rising order, to be freed with free(); NULL if memory runs out. */
uint64_t *addresses_sorted(const uint64_t *addresses, size_t count);

/* An address, and its index in a list. */
struct address_at {
	uint64_t address;
	size_t index;
};

/* The addresses of a list with their indexes, in rising order, to be freed with free(); NULL if memory runs out. */
struct address_at *addresses_indexed(const uint64_t *addresses, size_t count);

/* The first of `count` rising addresses that is not below `address`; `count` when all are. */
static inline size_t addresses_lower_bound(const uint64_t *addresses, size_t count, uint64_t address)
{
	return BISECT(count, i, addresses[i] < address);
}
