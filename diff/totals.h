/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Sums the nodes up by function (counting recursion once) and by origin: fills raw_self, raw_total and origins[].raw.
 */
void totals_sum(struct diff_build *build);

/* Sets base, head and delta of every estimate by diff->scale.factor, and clears the evidence. */
void totals_scale(struct diff *diff);

/* Returns an estimate with both sides' scaled values and no evidence. */
struct diff_estimate totals_estimate(const double raw[DIFF_SIDES], double factor);
