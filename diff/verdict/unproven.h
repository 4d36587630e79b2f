/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The verdict where nothing is proven: unchanged if only a small change can have been missed, else inconclusive. */

/*
 * Returns the smallest change of the total that matters to the user, in scaled units: the least limit of --fail-on on
 * the total, else 5 % of base. A total whose interval lies within it is unchanged.
 */
double unproven_tolerance(const struct diff_build *build);

/* Returns the advice for recordings that are no runs: "; so few samples prove no less: ...". It is static. */
const char *unproven_advice(const struct diff_build *build);

void unproven_decide(struct diff_build *build);
