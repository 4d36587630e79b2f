/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/spreads.h"

#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"

/* Means of 0 have no logarithm. */
static const double least_mean = 1e-9;

/* Returns the inverse of the variance of the logarithm of a count with this mean. */
static double precision_of(double mean, double shape)
{
	return 1 / (1 / mean + 1 / shape);
}

/*
 * Returns the logarithm of the likelihood of a side's counts where they vary by a spread, as negative binomial counts
 * whose gamma distribution has the variance of the lognormal one. The mean that explains them best counts as a
 * parameter (REML; Patterson and Thompson 1971).
 */
static double spread_log_likelihood(const struct evidence_counts *side, double rate, double spread)
{
	double shape = 1 / expm1(spread * spread), weighted = 0, weights = 0, sum = 0, precision = 0;

	for (size_t i = 0; i < side->count; i++) {
		double weight = precision_of(fmax(rate * side->work[i], least_mean), shape);

		weighted += weight * side->samples[i] / side->work[i];
		weights += weight;
	}
	for (size_t i = 0; i < side->count; i++) {
		double k = side->samples[i], mean = fmax(weighted / weights * side->work[i], least_mean);

		sum += lgamma(k + shape) - lgamma(shape) - lgamma(k + 1) + shape * log(shape / (shape + mean)) +
		       k * log(mean / (shape + mean));
		precision += precision_of(mean, shape);
	}
	return sum - .5 * log(precision);
}

void spreads_of_side(const struct evidence_counts *side, double values[static EVIDENCE_SPREADS])
{
	double samples = 0, work = 0, top = -INFINITY;

	for (size_t i = 0; i < side->count; i++) {
		samples += side->samples[i];
		work += side->work[i];
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		bool tells = side->count > 1 && samples > 0;

		values[k] = tells ? spread_log_likelihood(side, samples / work, evidence_spreads[k]) : 0;
		top = fmax(top, values[k]);
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		values[k] -= top;
}

void spreads_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	double weights[static EVIDENCE_SPREADS])
{
	double top = -INFINITY, sum = 0;

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		weights[k] = log(priors[k] + 1e-12);
	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		double values[EVIDENCE_SPREADS];

		spreads_of_side(&row->sides[side], values);
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			weights[k] += values[k];
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		top = fmax(top, weights[k]);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		sum += weights[k] = exp(weights[k] - top);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		weights[k] /= sum;
}

static double spreads_side_variance(const struct evidence_counts *side, double spread)
{
	double sum = evidence_sum(side->work, side->count), squares = 0;

	for (size_t i = 0; i < side->count; i++)
		squares += evidence_square(side->work[i] / sum);
	return log1p(expm1(evidence_square(spread)) * squares);
}

double spreads_variance(const struct evidence_row *row, double spread)
{
	return spreads_side_variance(&row->sides[0], spread) + spreads_side_variance(&row->sides[1], spread);
}
