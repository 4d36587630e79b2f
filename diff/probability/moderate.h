/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Variances moderated across rows that count nothing (Smyth 2004, "Linear models and empirical Bayes methods"). The
 * prior expects a row's variance to be scale * poisson. How far rows scatter around that gives the weight of the prior,
 * in degrees of freedom.
 */
struct moderation {
	double scale;
	double prior_freedom; /* 0: no prior; INFINITY: all rows share the trend */
};

struct dispersion {
	double variance; /* relative, of one unit, from the row's own residuals */
	double poisson;  /* the least variance that is believed, the same in all rows */
};

/*
 * Fits the prior to rows that have `freedom` degrees of freedom each. It is more careful in two ways, since few rows
 * and few units tell little of it (decision 63):
 *
 * - It gets the weight of a scatter that is one standard error larger than the one found (of a normal sample,
 *   sqrt(2 / (count - 1)) of it).
 * - Its variance is the geometric mean of the rows'. That of Smyth's distribution lies below it the more rows scatter,
 *   since the distribution has a long tail upwards: where rows have none, it would draw large variances too far down.
 */
void moderation_fit(const struct dispersion *rows, size_t count, double freedom, struct moderation *moderation);

/* Returns the row's moderated variance, and its degrees of freedom; never less than is believed. */
double moderation_posterior(
	const struct moderation *moderation, const struct dispersion *row, double freedom, double *posterior_freedom);
