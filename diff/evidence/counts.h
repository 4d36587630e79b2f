/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/*
 * Two counts whose ratio varies by more than counting. Given their sum n, head's count is binomial, with log-odds of
 * offset + t, where t is normal with a mean of 0 and a known variance.
 */

/* Returns the logarithm of the probability of a row's counts where t has a variance. */
double counts_log_probability(const struct evidence *evidence, double variance);

/*
 * Finds the probability of as many samples of head or more, and of as many or fewer: the sums over the spreads. Ties
 * are in both.
 */
void counts_tails(const struct evidence *evidence, double *upper, double *lower);

/*
 * Finds quantiles of the posterior of a change of the log-odds, under a normal prior, where t is a mixture of normal
 * distributions (evidence.weights and variance). tails: [count] rising probabilities.
 */
void counts_quantiles(
	const struct evidence *evidence, double prior_sd, const double *tails, size_t count, double *values);
