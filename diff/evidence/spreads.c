/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/spreads.h"

#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"

#include <stdlib.h>
#include <string.h>

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
		double weight = evidence_part(side, i) * precision_of(fmax(rate * side->work[i], least_mean), shape);

		weighted += weight * side->samples[i] / side->work[i];
		weights += weight;
	}
	for (size_t i = 0; i < side->count; i++) {
		double k = side->samples[i], mean = fmax(weighted / weights * side->work[i], least_mean);

		sum += evidence_part(side, i) *
		       (lgamma(k + shape) - lgamma(shape) - lgamma(k + 1) + shape * log(shape / (shape + mean)) +
			       k * log(mean / (shape + mean)));
		precision += evidence_part(side, i) * precision_of(mean, shape);
	}
	return sum - .5 * log(precision);
}

double spreads_at(enum evidence_class class, int k)
{
	int count = evidence_spread_count(class);

	return evidence_spreads_of(class)[k < count ? k : count - 1];
}

/* Returns a spread of a row that is such a part of the whole, of counts that nobody sampled. */
static double spreads_exact(double part, int k)
{
	return fmin(evidence_exact_spreads[k] / fmax(part, 1e-12), evidence_exact_most_spread);
}

double spreads_of(const struct evidence_row *row, int k)
{
	return evidence_is_exact(row->class) ? spreads_exact(row->part, k) : spreads_at(row->class, k);
}

/* Makes logarithms of likelihoods relative to the greatest. */
static void spreads_relate(double values[static EVIDENCE_SPREADS])
{
	double top = -INFINITY;

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		top = fmax(top, values[k]);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		values[k] -= top;
}

/* The logarithm of a profile's value, or of what a pair has in common, with the variance that counting gives it. */
struct spread_value {
	double value, counting, part;
};

/* Returns the logarithm of the likelihood of normal values with a variance beyond counting, and a mean (REML). */
static double spread_log_normal(const struct spread_value *values, size_t count, double variance)
{
	double weighted = 0, weights = 0, sum = 0;

	for (size_t i = 0; i < count; i++) {
		weighted += values[i].part * values[i].value / (values[i].counting + variance);
		weights += values[i].part / (values[i].counting + variance);
	}
	for (size_t i = 0; i < count; i++)
		sum -= .5 * values[i].part *
		       (evidence_square(values[i].value - weighted / weights) / (values[i].counting + variance) +
			       log(values[i].counting + variance));
	return sum - .5 * log(weights);
}

void spreads_of_exact(const struct evidence_counts *side, double part, double values[static EVIDENCE_SPREADS])
{
	CLEANUP(cleanup_free) struct spread_value *logs = memory_alloc((side->count + 1) * sizeof(*logs));

	for (size_t i = 0; i < side->count; i++)
		logs[i] = (struct spread_value){ log((side->samples[i] + .5) / side->work[i]), 0,
			evidence_part(side, i) };
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		values[k] = side->count > 1
				    ? spread_log_normal(logs, side->count, evidence_square(spreads_exact(part, k)))
				    : 0;
	spreads_relate(values);
}

void spreads_of_side(
	const struct evidence_counts *side, enum evidence_class class, double values[static EVIDENCE_SPREADS])
{
	double samples = evidence_sum(side, side->samples), work = evidence_sum(side, side->work);

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		bool tells = side->count > 1 && samples > 0;

		values[k] = tells ? spread_log_likelihood(side, samples / work, spreads_at(class, k)) : 0;
	}
	spreads_relate(values);
}

/* ---- Pairs ---- */

/*
 * Returns the logarithm of the likelihood of what the profiles of pairs have in common. A pair may have no factor; else
 * it varies by a spread of its own, of which the prior is that of what executions share.
 */
static double spread_log_common(const struct spread_value *values, size_t count, double spread)
{
	const double *priors = evidence_spread_priors[EVIDENCE_TOTAL_SUITE];
	double own = evidence_square(spread) / 2, logs[EVIDENCE_SPREADS + 1], top = -INFINITY, sum = 0;

	for (int k = 0; k <= EVIDENCE_SPREADS; k++) {
		bool is_none = k == EVIDENCE_SPREADS;
		double factor = is_none ? 0 : spreads_at(EVIDENCE_TOTAL_SUITE, k);

		logs[k] = log((is_none ? 1 - evidence_pair_factor : evidence_pair_factor * priors[k])) +
			  spread_log_normal(values, count, own + evidence_square(factor));
		top = fmax(top, logs[k]);
	}
	for (int k = 0; k <= EVIDENCE_SPREADS; k++)
		sum += exp(logs[k] - top);
	return top + log(sum);
}

/* The factor of a pair cancels in the ratio of its profiles; what they have in common bounds the spread from above. */
static void spreads_of_pairs(const struct evidence_row *row, double values[static EVIDENCE_SPREADS])
{
	const struct evidence_counts *base = &row->sides[0], *head = &row->sides[1];
	CLEANUP(cleanup_free) struct spread_value *ratios = memory_alloc(2 * base->count * sizeof(*ratios));
	struct spread_value *common = ratios + base->count;

	for (size_t i = 0; i < base->count; i++) {
		double of_base = log((base->samples[i] + .5) / base->work[i]),
		       of_head = log((head->samples[i] + .5) / head->work[i]),
		       counting = 1 / (base->samples[i] + .5) + 1 / (head->samples[i] + .5);

		ratios[i] = (struct spread_value){ of_head - of_base, counting, evidence_part(base, i) };
		common[i] = (struct spread_value){ (of_head + of_base) / 2, counting / 4, evidence_part(base, i) };
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		values[k] = spread_log_normal(ratios, base->count, 2 * evidence_square(spreads_at(row->class, k))) +
			    spread_log_common(common, base->count, spreads_at(row->class, k));
	spreads_relate(values);
}

/* ---- Of a row ---- */

const double *spreads_priors(const struct evidence_row *row)
{
	return row->priors ? row->priors : evidence_spread_priors[row->class];
}

void spreads_of_row(const struct evidence_row *row, double values[static EVIDENCE_SPREADS])
{
	if (row->in_pairs && row->sides[0].count > 1 && row->sides[0].count == row->sides[1].count) {
		spreads_of_pairs(row, values);
		return;
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		values[k] = 0;
	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		double of_side[EVIDENCE_SPREADS];

		if (evidence_is_exact(row->class))
			spreads_of_exact(&row->sides[side], row->part, of_side);
		else
			spreads_of_side(&row->sides[side], row->class, of_side);
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			values[k] += of_side[k];
	}
}

void spreads_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	double weights[static EVIDENCE_SPREADS])
{
	double top = -INFINITY, sum = 0;

	spreads_of_row(row, weights);
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		weights[k] += k < evidence_spread_count(row->class) ? log(priors[k] + 1e-12) : -INFINITY;
		top = fmax(top, weights[k]);
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		sum += weights[k] = exp(weights[k] - top);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		weights[k] /= sum;
}

/* ---- Of rows that were measured together ---- */

static bool spreads_are_told(const struct evidence_row *row)
{
	return row->sides[0].count > 1 || row->sides[1].count > 1;
}

/* How probable each spread is of a row, in a mixture. */
static void spreads_respond(const double likelihoods[static EVIDENCE_SPREADS],
	const double mixture[static EVIDENCE_SPREADS], double parts[static EVIDENCE_SPREADS])
{
	double all = 0;

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		all += parts[k] = mixture[k] * likelihoods[k];
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		parts[k] /= all;
}

void spreads_smooth(double parts[static EVIDENCE_SPREADS])
{
	double before = parts[0];

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double own = parts[k], after = parts[k + 1 < EVIDENCE_SPREADS ? k + 1 : k];

		parts[k] = (before + 2 * own + after) / 4;
		before = own;
	}
}

void evidence_learn_priors(struct evidence_row *rows, size_t count, double (*priors)[EVIDENCE_SPREADS])
{
	enum { STEPS = 100 };
	CLEANUP(cleanup_free) double(*likelihoods)[EVIDENCE_SPREADS] = memory_alloc((count + 1) * sizeof(*likelihoods));
	const double *known = evidence_spread_priors[rows[0].class];
	double mixture[EVIDENCE_SPREADS], parts[EVIDENCE_SPREADS], sums[EVIDENCE_SPREADS] = { 0 };
	size_t told = 0;

	memcpy(mixture, known, sizeof(mixture));
	for (size_t i = 0; i < count; i++) {
		spreads_of_row(&rows[i], likelihoods[i]);
		spreads_relate(likelihoods[i]);
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			likelihoods[i][k] = exp(likelihoods[i][k]);
		told += spreads_are_told(&rows[i]);
	}
	for (int step = 0; step < STEPS && told > 0; step++) {
		memset(sums, 0, sizeof(sums));
		for (size_t i = 0; i < count; i++) {
			if (!spreads_are_told(&rows[i]))
				continue;
			spreads_respond(likelihoods[i], mixture, parts);
			for (int k = 0; k < EVIDENCE_SPREADS; k++)
				sums[k] += parts[k];
		}
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			mixture[k] = (sums[k] + evidence_known_rows * known[k]) / ((double)told + evidence_known_rows);
		spreads_smooth(mixture);
	}
	spreads_smooth(sums);
	for (size_t i = 0; i < count; i++) {
		bool is_told = spreads_are_told(&rows[i]);

		spreads_respond(likelihoods[i], mixture, parts);
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			priors[i][k] = (fmax(sums[k] - (is_told ? parts[k] : 0), 0) + evidence_known_rows * known[k]) /
				       ((double)(told - is_told) + evidence_known_rows);
		rows[i].priors = priors[i];
	}
}

/* ---- */

static double spreads_side_variance(const struct evidence_counts *side, double spread)
{
	double sum = evidence_sum(side, side->work), squares = 0;

	for (size_t i = 0; i < side->count; i++)
		squares += evidence_part(side, i) * evidence_square(side->work[i] / sum);
	return log1p(expm1(evidence_square(spread)) * squares);
}

double spreads_variance(const struct evidence_row *row, double spread)
{
	return spreads_side_variance(&row->sides[0], spread) + spreads_side_variance(&row->sides[1], spread);
}
