/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/* Returns whether a row has too few samples on a side for a normal approximation. */
bool small_counts(const struct experiment *experiment, size_t row);

/*
 * Tests a row with few samples, whose sums are in `result`, by its numbers of samples (tail_exact()). `variance` is
 * that of the logarithm of head over base beyond counting.
 */
void small_test(const struct experiment *experiment, size_t row, double variance, struct row_result *result);

/* Returns the two-sided p of the difference between the means of a row's runs (Welch 1947); 1 if a side has one run. */
double small_p_of_means(const struct experiment *experiment, size_t row);
