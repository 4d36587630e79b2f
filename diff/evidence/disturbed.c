/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"
#include "diff/evidence/spreads.h"
#include "diff/probability/probability.h"

#include <stdlib.h>

void evidence_count_values(const double *logarithms, const double *variances, const double *parts, size_t count,
	double *samples, double *work)
{
	double all = 0, mean = 0, scale = 0, variance = 0;

	for (size_t i = 0; i < count; i++)
		all += parts ? parts[i] : 1;
	for (size_t i = 0; i < count; i++) {
		double part = (parts ? parts[i] : 1) / all;

		mean += part * logarithms[i];
		variance += part * fmax(variances ? variances[i] : 0, evidence_least_variance);
	}
	for (size_t i = 0; i < count; i++)
		scale += (parts ? parts[i] : 1) / all * exp(logarithms[i] - mean);
	for (size_t i = 0; i < count; i++) {
		samples[i] = exp(logarithms[i] - mean) / scale / variance;
		work[i] = exp(-mean) / variance;
	}
}

/* The logarithm of a profile's rate, or of a pair's ratio, among those that have one mean. */
struct disturbed_value {
	double value, counting;
	int group;
	double own[EVIDENCE_SPREADS]; /* the probability that it was not disturbed, at each spread */
	double part;
};

struct disturbed {
	struct disturbed_value *values; /* owned */
	size_t count;
	double means[EVIDENCE_SIDES];
	double pairs; /* the variance of a value is the square of the spread times this */
};

static void disturbed_deinit(struct disturbed *d)
{
	free(d->values);
}

static void fill_values(const struct evidence_row *row, struct disturbed *d)
{
	d->values = memory_zeroed(row->sides[0].count + row->sides[1].count + 1, sizeof(*d->values));
	d->pairs = row->in_pairs ? 2 : 1;
	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		const struct evidence_counts *counts = &row->sides[side];

		for (size_t i = 0; i < counts->count; i++) {
			double value = log((counts->samples[i] + .5) / counts->work[i]),
			       counting = 1 / (counts->samples[i] + .5);
			struct disturbed_value *to =
				&d->values[row->in_pairs || side == 0 ? i : row->sides[0].count + i];

			to->value = row->in_pairs && side == 1 ? value - to->value : value;
			to->counting += counting;
			to->group = row->in_pairs ? 0 : side;
			to->part = 1;
		}
	}
	d->count = row->in_pairs ? row->sides[0].count : row->sides[0].count + row->sides[1].count;
}

static void start_with_medians(struct disturbed *d)
{
	CLEANUP(cleanup_free) struct weighted_value *scratch = memory_alloc((d->count + 1) * sizeof(*scratch));

	for (int group = 0; group < EVIDENCE_SIDES; group++) {
		size_t count = 0;

		for (size_t i = 0; i < d->count; i++)
			if (d->values[i].group == group)
				scratch[count++] = (struct weighted_value){ d->values[i].value, 1 };
		d->means[group] = count > 0 ? weighted_median(scratch, count) : 0;
	}
}

/* Finds how probable each value is to be undisturbed at a spread. Returns the logarithm of the likelihood of all. */
static double respond_at(struct disturbed *d, double spread, int k)
{
	double sum = 0;

	for (size_t i = 0; i < d->count; i++) {
		struct disturbed_value *v = &d->values[i];
		double off = v->value - d->means[v->group], variance = d->pairs * evidence_square(spread) + v->counting;
		double own = (1 - evidence_disturbances.part) * evidence_density(off, variance),
		       all = own + evidence_disturbances.part *
					   evidence_density(off, variance + evidence_square(evidence_disturbances.sd));

		v->own[k] = all > 0 ? own / all : 0;
		sum += log(fmax(all, 1e-300));
	}
	return sum;
}

static void update_parts(struct disturbed *d, const struct evidence_row *row)
{
	const double *priors = spreads_priors(row);
	int count = evidence_spread_count(row->class);
	double logs[EVIDENCE_SPREADS], top = -INFINITY, all = 0;

	for (int k = 0; k < count; k++) {
		logs[k] = log(priors[k] + 1e-12) + respond_at(d, spreads_at(row->class, k), k);
		top = fmax(top, logs[k]);
	}
	for (int k = 0; k < count; k++)
		all += exp(logs[k] - top);
	for (size_t i = 0; i < d->count; i++) {
		d->values[i].part = 0;
		for (int k = 0; k < count; k++)
			d->values[i].part += exp(logs[k] - top) / all * d->values[i].own[k];
	}
}

static void update_means(struct disturbed *d)
{
	double sums[EVIDENCE_SIDES] = { 0 }, parts[EVIDENCE_SIDES] = { 0 };

	for (size_t i = 0; i < d->count; i++) {
		sums[d->values[i].group] += d->values[i].part * d->values[i].value;
		parts[d->values[i].group] += d->values[i].part;
	}
	for (int group = 0; group < EVIDENCE_SIDES; group++)
		if (parts[group] > 0)
			d->means[group] = sums[group] / parts[group];
}

void evidence_find_disturbed(const struct evidence_row *row, double *parts[EVIDENCE_SIDES])
{
	enum { STEPS = 10 };
	static const double least_part = 1e-6;
	CLEANUP(disturbed_deinit) struct disturbed d = { 0 };

	fill_values(row, &d);
	start_with_medians(&d);
	for (int step = 0; step < STEPS; step++) {
		update_parts(&d, row);
		update_means(&d);
	}
	for (int side = 0; side < EVIDENCE_SIDES; side++)
		for (size_t i = 0; i < row->sides[side].count; i++)
			parts[side][i] = fmax(
				d.values[row->in_pairs || side == 0 ? i : row->sides[0].count + i].part, least_part);
}
