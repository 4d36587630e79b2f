/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"
#include "diff/probability/probability.h"

/* The median of values, and the median of the absolute distances to it. */
struct run_spread {
	double median, deviation;
};

/* `scratch` has room for `count` entries. */
struct run_spread run_spread_of(const double *values, size_t count, struct weighted_value *scratch);

/* Returns whether a value is an outlier by its modified z score (Iglewicz and Hoaglin 1993). */
bool run_is_far(const struct run_spread *spread, double value);

/*
 * Compares the figures of whole runs, which are a row of the model of evidence, and names outliers (modified z scores,
 * Iglewicz and Hoaglin 1993): fills diff->runs.
 */
void run_figures_collect(struct diff_build *build);
