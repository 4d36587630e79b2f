/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Sums the nodes up by function (recursion once) and by origin: fills raw_self, raw_total, origins[].raw. */
void totals_sum(struct diff_build *build);

/* Fills base, head and delta of every estimate with diff->scale.factor, and clears the evidence. */
void totals_scale(struct diff *diff);

/* An estimate of which nothing is known but both sides' scaled values. */
struct diff_estimate totals_estimate(const double raw[DIFF_SIDES], double factor);
