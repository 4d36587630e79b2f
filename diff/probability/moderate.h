/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Variances moderated across rows (Smyth 2004, "Linear models and empirical Bayes methods"; the trend against the mean
 * as in limma-trend and DESeq2). The prior expects a row's relative variance in a unit to be scale * (1 / samples +
 * overdispersion). How far rows scatter around that gives the weight of the prior, in degrees of freedom.
 */
struct moderation {
	double overdispersion;
	double scale;
	double prior_freedom; /* 0: no prior; INFINITY: all rows share the trend */
};

struct dispersion {
	double variance; /* relative, of one unit, from the row's own residuals */
	double poisson;  /* the variance of counting alone */
};

/* Fits the prior to rows that have `freedom` degrees of freedom each. */
void moderation_fit(const struct dispersion *rows, size_t count, double freedom, struct moderation *moderation);

/*
 * Does the same for rows that count nothing: `poisson` is the least variance that is believed, the same in all rows.
 * The prior is more careful in two ways, since few rows and few units tell little of it (decision 63):
 *
 * - It gets the weight of a scatter that is one standard error larger than the one found (of a normal sample,
 *   sqrt(2 / (count - 1)) of it).
 * - Its variance is the geometric mean of the rows'. That of Smyth's distribution lies below it the more rows scatter,
 *   since the distribution has a long tail upwards: where rows have none, it would draw large variances too far down.
 */
void moderation_fit_alike(const struct dispersion *rows, size_t count, double freedom, struct moderation *moderation);

/* Returns the row's moderated variance, and its degrees of freedom; never less than counting alone gives. */
double moderation_posterior(
	const struct moderation *moderation, const struct dispersion *row, double freedom, double *posterior_freedom);

/*
 * Returns whether the row, with `freedom` degrees of freedom, varies more than other rows do, because of two modes or
 * bursts.
 */
bool moderation_is_outlier(const struct moderation *moderation, const struct dispersion *row, double freedom);

/* Returns the variance beyond counting that the prior expects of a row. */
double moderation_excess(const struct moderation *moderation, double poisson);
