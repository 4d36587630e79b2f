/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/measured.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"

#include <math.h>

/* A row's share of a side, and the variance of its logarithm. */
struct share {
	double value, variance;
};

/* Returns the variance of the logarithm of a share between units: that of a ratio of sums (Cochran 1977, 6.3). */
static double variance_between_units(const struct experiment *experiment, enum diff_side side, size_t row, double share)
{
	const double *values = experiment_values(experiment, side, row), *whole = experiment_whole(experiment, side);
	double sum = experiment_sum(experiment, side, row), squares = 0;
	size_t count = experiment->sides[side].unit_count;

	for (size_t unit = 0; unit < count; unit++)
		squares += pow(values[unit] - share * whole[unit], 2);
	return count > 1 ? squares * (double)count / (double)(count - 1) / (sum * sum) : 0;
}

static struct share measured_share_of(const struct experiment *experiment, enum diff_side side, size_t row)
{
	const double *whole = experiment_whole(experiment, side);
	double all = 0, samples = experiment_samples(experiment, side, row), others, binomial;
	struct share share;

	for (size_t unit = 0; unit < experiment->sides[side].unit_count; unit++)
		all += whole[unit];
	share.value = all > 0 ? experiment_sum(experiment, side, row) / all : 0;
	if (!(share.value > 0))
		return (struct share){ 0 };
	others = samples / share.value - samples + 1;
	binomial = others / (samples * (samples + others));
	share.variance = fmax(binomial, variance_between_units(experiment, side, row, share.value));
	return share;
}

void measured_weigh(const struct diff_build *build, const struct experiment *experiment, struct row_result *results)
{
	const struct diff_measured *measured = build->options.measured;

	for (size_t row = 0; measured && row < experiment->row_count; row++) {
		struct row_result *result = &results[row];
		struct share base = measured_share_of(experiment, DIFF_BASE, row),
			     head = measured_share_of(experiment, DIFF_HEAD, row);

		if (!result->tested || !(fmin(base.value, head.value) >= measured_least_share))
			continue;
		result->effect = result->judged = measured->effect + log(head.value / base.value);
		result->variance = pow(measured->error, 2) + base.variance + head.variance;
		result->low = result->effect - tail_normal_95 * sqrt(result->variance);
		result->high = result->effect + tail_normal_95 * sqrt(result->variance);
		result->adjustment = measured->adjustment;
		result->p = fmax(measured->p, tail_two_sided(result->judged / sqrt(result->variance), INFINITY));
	}
}
