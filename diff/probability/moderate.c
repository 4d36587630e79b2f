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

static double median_ratio(
	const struct dispersion *rows, size_t count, double overdispersion, struct weighted_value *scratch)
{
	for (size_t i = 0; i < count; i++)
		scratch[i] = (struct weighted_value){ rows[i].variance / (rows[i].poisson + overdispersion),
			1 / rows[i].poisson };
	return weighted_median(scratch, count);
}

/*
 * Returns the overdispersion at which the rows' median ratio is the one expected by chance. Rows with many samples
 * decide it.
 */
static double fit_overdispersion(
	const struct dispersion *rows, size_t count, double freedom, struct weighted_value *scratch)
{
	double expected = gsl_cdf_chisq_Pinv(0.5, freedom) / freedom, low = 0, high = 1;

	if (median_ratio(rows, count, 0, scratch) <= expected)
		return 0;
	while (high < 1e6 && median_ratio(rows, count, high, scratch) > expected)
		high *= 2;
	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (median_ratio(rows, count, middle, scratch) > expected)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * Lists the rows whose variation is not hidden by counting noise: only they show how much rows differ from each other.
 */
static size_t informative(
	const struct dispersion *rows, size_t count, double overdispersion, struct weighted_value *chosen)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].poisson <= 2 * overdispersion)
			chosen[used++].value = rows[i].variance / (rows[i].poisson + overdispersion);
	}
	if (used >= MIN_ROWS)
		return used;
	for (size_t i = 0; i < count; i++)
		chosen[i].value = rows[i].variance / (rows[i].poisson + overdispersion);
	return count;
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
	CLEANUP(cleanup_free) struct weighted_value *scratch = memory_alloc((count + 1) * sizeof(*scratch));

	*moderation = (struct moderation){ .scale = 1 };
	if (count < MIN_ROWS || freedom < 1)
		return;
	moderation->overdispersion = fit_overdispersion(rows, count, freedom, scratch);
	count = informative(rows, count, moderation->overdispersion, scratch);
	fit_scatter(scratch, count, freedom, 0, moderation);
}

void moderation_fit_alike(const struct dispersion *rows, size_t count, double freedom, struct moderation *moderation)
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

bool moderation_is_outlier(const struct moderation *m, const struct dispersion *row, double freedom)
{
	double prior = m->scale * (row->poisson + m->overdispersion);

	return freedom > 0 && m->prior_freedom > 0 && outlier(m, row->variance / prior, freedom);
}

double moderation_posterior(
	const struct moderation *m, const struct dispersion *row, double freedom, double *posterior_freedom)
{
	double prior = m->scale * (row->poisson + m->overdispersion), variance;

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

double moderation_excess(const struct moderation *m, double poisson)
{
	return fmax(0, m->scale * (poisson + m->overdispersion) - poisson);
}
