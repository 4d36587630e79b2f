/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/experiment.h"

/* Whether a row has too few samples on a side for a normal approximation. */
bool small_counts(const struct experiment *experiment, size_t row);

/* Tests such a row, whose sums `result` holds; `variance` is that of the logarithm of head over base beyond counting. */
void small_test(const struct experiment *experiment, double variance, struct row_result *result);
