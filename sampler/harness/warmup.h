/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/harness.h"

/*
 * Statistics of the times of rounds, which come one after the other and resemble each other.
 */

/*
 * Returns how many rounds at the start are warm-up. The end of it is where the standard error of the mean of what is
 * left is smallest: MSER-5 (White, "An effective truncation heuristic for bias reduction in simulation output", 1997;
 * means of 5 are of White, Cobb and Spratt, 2000), up to half of the rounds. Noise has such a place, too: it counts
 * only if the median of the rounds before it is higher than that of the rounds behind it by more than three of its
 * standard errors, made of the batch means (below) behind it. Below 20 rounds nothing can be said, and it is 0.
 * `scratch` has room for all times.
 */
size_t warmup_count(const double *times, size_t count, double *scratch);

/*
 * Fills median, mean, standard deviation and standard error of the mean. Times in sequence depend on each other, so the
 * error is that of the means of longer and longer batches (batch means; Conway 1963), if it is larger than that of
 * independent times. `rounds` and `iterations` are the caller's. ERROR_MEMORY.
 */
COMMON_MUST_CHECK
bool warmup_measure(const double *times, size_t count, struct profile_measured *measured, struct error *err);

/* The quantile (0 to 1) of sorted times, between neighbours. 0 of none. */
double warmup_quantile(const double *sorted, size_t count, double quantile);

/* Sorts times. */
void warmup_sort(double *times, size_t count);
