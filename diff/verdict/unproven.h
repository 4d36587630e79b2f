/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The verdict where nothing is proven: unchanged if only a small change can have been missed, else inconclusive. */

/*
 * Returns the smallest change of the total that matters to the user, in scaled units: the least limit of --fail-on on
 * the total, else 5 % of base. A total whose interval lies within it is unchanged.
 */
double unproven_tolerance(const struct diff_build *build);

/* Writes what would tell more, by the widest part of the variance: "; so few samples tell no more: record longer". */
enum { UNPROVEN_ADVICE = 240 };
void unproven_advice(const struct diff_build *build, char out[static UNPROVEN_ADVICE]);

void unproven_decide(struct diff_build *build);
