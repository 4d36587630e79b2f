/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/row.h"

#include "diff/evidence/constants.h"
#include "diff/evidence/counts.h"
#include "diff/evidence/normal.h"
#include "diff/evidence/spreads.h"
#include "diff/probability/probability.h"

#include <gsl/gsl_cdf.h>

double row_follow_variance(enum evidence_class class, const struct evidence_factor *factor)
{
	double scatter = class < EVIDENCE_TOTAL ? evidence_load_scatter * factor->load : 0;

	return factor->variance + evidence_square(evidence_follow * factor->mean) + evidence_square(scatter);
}

/* Fills the counts and what no change would make of them, for work of the sides and a common factor. */
static void row_count(
	const struct evidence_counts sides[EVIDENCE_SIDES], const struct evidence_factor *factor, struct evidence *e)
{
	double work[EVIDENCE_SIDES];

	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		e->samples[side] = evidence_sum(&sides[side], sides[side].samples);
		work[side] = evidence_sum(&sides[side], sides[side].work);
	}
	e->offset = log(work[1] / work[0]) + factor->mean;
	e->effect = log(fmax(e->samples[1], .5) / fmax(e->samples[0], .5)) - e->offset;
}

/* The probabilities of at least as many, and of at most as many, samples of head without a change. */
struct tails {
	double upper, lower;
};

static struct tails row_tails(const struct evidence *e)
{
	struct tails tails;

	counts_tails(e, &tails.upper, &tails.lower);
	return tails;
}

/* Half of the probability of the very counts that were seen is in either tail (mid-p; Lancaster 1961). */
static double two_sided(struct tails tails)
{
	double tie = fmax(tails.upper + tails.lower - 1, 0) / 2;

	return fmin(fmax(2 * (fmin(tails.upper, tails.lower) - tie), 1e-300), 1);
}

/* ---- What a compiler decided ---- */

/*
 * Returns the probability that inlining explains the row's change in its direction: 1 if the time that it leaves is
 * where it went, which is so if the row with that time did not change in this direction.
 */
static double row_inlining(
	const struct evidence_row *row, const struct evidence_factor *factor, const struct evidence *e)
{
	struct evidence conserved = *e;
	struct tails tails;

	row_count(row->conserved, factor, &conserved);
	tails = row_tails(&conserved);
	return fmin(1, 2 * (e->effect > 0 ? tails.upper : tails.lower));
}

/*
 * The spreads of what a compiler decides count as far as inlining explains the change. Returns the least p, since what
 * a side does not have at all may just have been inlined there.
 */
static double row_weigh_inlining(
	const struct evidence_row *row, const struct evidence_factor *factor, struct evidence *e)
{
	double inlining = row_inlining(row, factor, e);

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		if (spreads_at(row->class, k) >= evidence_inlining_spread)
			e->weights[k] *= inlining;
	return row->is_inlined ? evidence_inlined * inlining : 0;
}

/* ---- Start-up ---- */

/* Returns the p of the second halves; 1 where they differ in the other direction. */
static double row_late_p(const struct evidence_row *row, const struct evidence_factor *factor, const struct evidence *e)
{
	struct evidence late = *e;

	row_count(row->late, factor, &late);
	return late.effect * e->effect > 0 ? two_sided(row_tails(&late)) : 1;
}

static double late_part(const struct evidence_row *row)
{
	return row->class < EVIDENCE_TOTAL ? evidence_late : evidence_late_total;
}

/* ---- */

void row_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	const struct evidence_factor *factor, struct evidence *e)
{
	double follow = row_follow_variance(row->class, factor);
	double least_p = 0;

	*e = (struct evidence){ .p = 1, .is_exact = evidence_is_exact(row->class) };
	row_count(row->sides, factor, e);
	spreads_weigh(row, priors, e->weights);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		e->variance[k] = spreads_variance(row, spreads_of(row, k)) + follow + row->further;
	if (!(e->samples[0] + e->samples[1] > 0))
		return;
	if (row->class == EVIDENCE_COMPILED && row->conserved[0].count > 0)
		least_p = row_weigh_inlining(row, factor, e);
	e->p = fmax(two_sided(row_tails(e)), least_p);
	if (row->late[0].count > 0 && row->late[1].count > 0)
		e->p += late_part(row) * (row_late_p(row, factor, e) - e->p);
}

void evidence_weigh_row(const struct evidence_row *row, const struct evidence_factor *factor, struct evidence *e)
{
	row_weigh(row, spreads_priors(row), factor, e);
}

double evidence_gain(const struct evidence *e)
{
	double same[EVIDENCE_SPREADS], changed[EVIDENCE_SPREADS], top = -INFINITY, sums[2] = { 0 };

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		same[k] = counts_log_probability(e, e->variance[k]);
		changed[k] = counts_log_probability(e, e->variance[k] + evidence_square(evidence_change_sd));
		top = fmax(top, fmax(same[k], changed[k]));
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		sums[0] += e->weights[k] * exp(same[k] - top);
		sums[1] += e->weights[k] * exp(changed[k] - top);
	}
	return log(fmax(sums[1], 1e-300) / fmax(sums[0], 1e-300));
}

void evidence_interval(const struct evidence *e, double *low, double *high)
{
	evidence_interval_at_look(e, 0, low, high);
}

void evidence_interval_at_look(const struct evidence *e, unsigned int look, double *low, double *high)
{
	double tail = tail_of_interval / evidence_look_adjustment(look);
	const double tails[] = { tail, 1 - tail };
	double values[2];

	counts_quantiles(e, evidence_interval_sd, tails, 2, values);
	*low = fmin(values[0], e->effect);
	*high = fmax(values[1], e->effect);
}

void evidence_make_certain(double *const samples[EVIDENCE_SIDES], const size_t counts[EVIDENCE_SIDES])
{
	static const double many_samples = 1e7;
	double least = INFINITY;

	for (int side = 0; side < EVIDENCE_SIDES; side++)
		for (size_t i = 0; i < counts[side]; i++)
			least = samples[side][i] > 0 ? fmin(least, samples[side][i]) : least;
	for (int side = 0; side < EVIDENCE_SIDES; side++)
		for (size_t i = 0; i < counts[side]; i++)
			samples[side][i] *= fmax(many_samples / least, 1);
}

/* ---- How many profiles would tell ---- */

/* Returns the probability that as many profiles a side as `times` those of the row prove a change. */
static double row_power(
	const struct evidence_row *row, const struct evidence *e, double effect, double level, double times)
{
	double counting = 1 / fmax(e->samples[0], .5) + 1 / fmax(e->samples[1], .5), power = 0;

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double sd = sqrt((e->variance[k] - row->further + counting) / times + row->further);

		power += e->weights[k] * gsl_cdf_ugaussian_P(fabs(effect) / sd - tail_quantile(level / 2, INFINITY));
	}
	return power;
}

size_t evidence_profiles_needed(
	const struct evidence_row *row, const struct evidence *e, double effect, double level, size_t most)
{
	double profiles = 2 / (1 / (double)row->sides[0].count + 1 / (double)row->sides[1].count);
	size_t low = 0, high = most;

	if (row_power(row, e, effect, level, (double)most / profiles) < tail_power)
		return 0;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (row_power(row, e, effect, level, (double)middle / profiles) < tail_power)
			low = middle;
		else
			high = middle;
	}
	return high;
}
