/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/probability/moderate.h"

#include "diff/probability/median.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_psi.h>

/* Fewer rows do not show how rows vary. */
enum { MIN_ROWS = 5 };

/* A row above this upper tail of the prior is of another kind (bursts), and keeps its own variance. */
static const double outlier_tail = 0.01;

/*
 * The number of standard errors by which the scatter of rows that count nothing is taken to be larger than it is found.
 */
static const double alike_caution = 1;

/* Lower bound of a variance's ratio, since the logarithm of 0 is minus infinity. */
static const double least_ratio = 1e-4;

/* Returns the inverse of the trigamma function by Newton's method on its reciprocal (Smyth 2004, appendix). */
static double trigamma_inverse(double x)
{
	double y;

	if (x > 1e7)
		return 1 / sqrt(x);
	if (x < 1e-6)
		return 1 / x;
	y = 0.5 + 1 / x;
	for (int i = 0; i < 50; i++) {
		double trigamma = gsl_sf_psi_1(y);
		double step = trigamma * (1 - trigamma / x) / gsl_sf_psi_n(2, y);

		y += step;
		if (-step / y < 1e-8)
			break;
	}
	return y;
}

/* `caution`: the scatter is taken to be larger than it is found, by as many of its standard errors. */
static void fit_scatter(
	const struct weighted_value *ratios, size_t count, double freedom, double caution, struct moderation *m)
{
	double offset = gsl_sf_psi(freedom / 2) - log(freedom / 2), sum = 0, squares = 0, mean, scatter, excess;

	for (size_t i = 0; i < count; i++) {
		double e = log(fmax(ratios[i].value, least_ratio)) - offset;

		sum += e;
		squares += e * e;
	}
	mean = sum / (double)count;
	scatter = (squares - sum * mean) / (double)(count - 1);
	excess = scatter * (1 + caution * sqrt(2.0 / (double)(count - 1))) - gsl_sf_psi_1(freedom / 2);
	if (excess > 0) {
		m->prior_freedom = 2 * trigamma_inverse(excess);
		m->scale = exp(mean + gsl_sf_psi(m->prior_freedom / 2) - log(m->prior_freedom / 2));
	} else {
		m->prior_freedom = INFINITY;
		m->scale = exp(mean);
	}
}

void moderation_fit(const struct dispersion *rows, size_t count, double freedom, struct moderation *moderation)
{
	CLEANUP(cleanup_free) struct weighted_value *ratios = memory_alloc((count + 1) * sizeof(*ratios));

	*moderation = (struct moderation){ .scale = 1 };
	if (count < MIN_ROWS || freedom < 1)
		return;
	for (size_t i = 0; i < count; i++)
		ratios[i].value = rows[i].variance / rows[i].poisson;
	fit_scatter(ratios, count, freedom, alike_caution, moderation);
	/* The geometric mean: see the header. */
	if (isfinite(moderation->prior_freedom))
		moderation->scale *=
			exp(log(moderation->prior_freedom / 2) - gsl_sf_psi(moderation->prior_freedom / 2));
}

static bool outlier(const struct moderation *m, double ratio, double freedom)
{
	double tail = isinf(m->prior_freedom) ? gsl_cdf_chisq_Q(ratio * freedom, freedom)
					      : gsl_cdf_fdist_Q(ratio, freedom, m->prior_freedom);

	return tail < outlier_tail;
}

double moderation_posterior(
	const struct moderation *m, const struct dispersion *row, double freedom, double *posterior_freedom)
{
	double prior = m->scale * row->poisson, variance;

	if (m->prior_freedom <= 0 || outlier(m, row->variance / prior, freedom)) {
		variance = row->variance;
		*posterior_freedom = freedom;
	} else if (isinf(m->prior_freedom)) {
		variance = prior;
		*posterior_freedom = INFINITY;
	} else {
		variance = (m->prior_freedom * prior + freedom * row->variance) / (m->prior_freedom + freedom);
		*posterior_freedom = m->prior_freedom + freedom;
	}
	return fmax(variance, row->poisson);
}
