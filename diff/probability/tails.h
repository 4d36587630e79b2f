/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Tails of the distributions that the tests use. `freedom` may be INFINITY: the normal distribution. */

/* Intervals have a confidence of 95 %: so much of the probability lies beyond each of their ends. */
static const double tail_of_interval = 0.025;

/* The part of tries in which as much data as is said to be needed proves a change: the customary power. */
static const double tail_power = 0.8;

/* The number of standard errors from the middle of a 95 % interval to its ends, under the normal distribution. */
static const double tail_normal_95 = 1.96;

/* Returns the probability of |T| >= |t| under Student's t. */
double tail_two_sided(double t, double freedom);

/* Returns the t that is exceeded with probability `upper`. */
double tail_quantile(double upper, double freedom);
