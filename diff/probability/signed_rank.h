/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/* The test and the interval take time and memory by the square of the number of values. */
enum { SIGNED_RANK_MOST = 100 };

/* The middle of a symmetric distribution. */
struct signed_rank {
	double p;         /* two-sided, of a middle of 0 */
	double low, high; /* 95 % interval of the middle; the least and the greatest value where they are too few */
};

/*
 * Wilcoxon's signed-rank test (1945) and the interval that agrees with it (Hodges and Lehmann 1963): the values may
 * have tails of any weight. Exact, but for values of the same size, whose ranks are those in the middle of them, and
 * for values of 0, half of whose rank counts on either side. Sorts `values` by size; `count` is 1...SIGNED_RANK_MOST.
 */
struct signed_rank signed_rank_of(double *values, size_t count);
