/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/* The order of two values for qsort(3): below, equal to or above 0. Each is evaluated twice. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Counts, by binary search, the items that stand in front: `condition`, in which `at` is the index of an item, holds of
 * the first ones of `count`, and of no other.
 */
#define BISECT(count, at, condition)                                                                                   \
	({                                                                                                             \
		size_t low_ = 0, high_ = (count);                                                                      \
		while (low_ < high_) {                                                                                 \
			size_t at = low_ + (high_ - low_) / 2;                                                         \
			if (condition)                                                                                 \
				low_ = (at) + 1;                                                                       \
			else                                                                                           \
				high_ = (at);                                                                          \
		}                                                                                                      \
		low_;                                                                                                  \
	})
