/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Tails of the distributions that the tests use. `freedom` may be INFINITY: the normal distribution. */

/* Intervals have a confidence of 95 %: so much of the probability lies beyond each of their ends. */
static const double tail_of_interval = 0.025;

/* The number of standard errors from the middle of a 95 % interval to its ends, under the normal distribution. */
static const double tail_normal_95 = 1.96;

/* Returns the probability of |T| >= |t| under Student's t. */
double tail_two_sided(double t, double freedom);

/* Returns the t that is exceeded with probability `upper`. */
double tail_quantile(double upper, double freedom);

/*
 * Returns the two-sided p of `head` out of base + head counts, each of which falls to head with probability `share` (in
 * (0, 1)): the exact conditional test of two Poisson counts, or of two negative binomial ones when `variance`, the
 * variance of the logarithm of their ratio beyond counting, is not 0 (beta-binomial; Robinson and Smyth 2008). Twice
 * the smaller tail.
 */
double tail_exact(double base, double head, double share, double variance);

/*
 * Returns the mean of the squares of a standard normal variable that are among the lowest, a part of all of them: 1 of
 * all.
 */
double tail_mean_of_squares(double part);
