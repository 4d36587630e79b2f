/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Arithmetic on sizes that come from foreign bytes. If the result overflows, each function returns false and leaves it
 * untouched.
 */

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *sum)
{
	uint64_t result;

	if (__builtin_add_overflow(a, b, &result))
		return false;
	*sum = result;
	return true;
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *product)
{
	uint64_t result;

	if (__builtin_mul_overflow(a, b, &result))
		return false;
	*product = result;
	return true;
}

/* Sums of weights saturate, so that a hostile file cannot make a total overflow and turn negative. */
static inline int64_t saturating_add(int64_t a, int64_t b)
{
	int64_t result;

	if (__builtin_add_overflow(a, b, &result))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return result;
}

/* Counts, likewise. */
static inline uint64_t saturating_add_unsigned(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_add_overflow(a, b, &result) ? UINT64_MAX : result;
}

/* Returns whether [offset, offset + size) lies within [0, limit). */
static inline bool checked_range(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}
