/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/small.h"
#include "diff/probability/probability.h"

#include <math.h>

static const double normal_samples = 20;

/*
 * With more samples the exact sum would take long. One side is small only because it has almost no time, so that the
 * tail is 0 either way.
 */
static const double max_exact_samples = 1e6;

bool small_counts(const struct experiment *experiment, size_t row)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!(experiment_sum(experiment, side, row) > 0))
			return true;
		if (experiment_sum(experiment, side, row) <
			normal_samples * experiment_sample_weight(experiment, side, row))
			return true;
	}
	return false;
}

/* Least relative standard error. */
static const double least_error = 1e-6;

/*
 * Returns the squared standard error of the difference of a row's scaled sums, from the differences between runs; 0: a
 * side has one run.
 */
static double squared_error(const struct experiment *experiment, size_t row, double *freedom)
{
	double variance = 0, parts = 0, runs_together = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const double *values = experiment_values(experiment, side, row);
		double runs = (double)experiment->sides[side].unit_count,
		       mean = experiment_sum(experiment, side, row) / runs;
		double squares = 0, own, scale = runs * (side == DIFF_HEAD ? experiment->factor : 1);

		for (size_t run = 0; run < experiment->sides[side].unit_count; run++)
			squares += (values[run] - mean) * (values[run] - mean);
		if (runs < 2)
			return 0;
		runs_together += runs;
		own = squares / (runs - 1) / runs * scale * scale;
		variance += own;
		parts += own * own / (runs - 1);
	}
	*freedom = parts > 0 ? variance * variance / parts : runs_together - 2;
	/*
	 * The values may be the same in every run, as counts of things are: any difference beyond rounding is real
	 * then.
	 */
	return fmax(
		variance, pow(least_error * fmax(experiment_sum(experiment, DIFF_BASE, row),
						    experiment_sum(experiment, DIFF_HEAD, row) * experiment->factor),
				  2));
}

double small_p_of_means(const struct experiment *experiment, size_t row)
{
	struct row_result means;
	double freedom, squared = squared_error(experiment, row, &freedom);

	experiment_scale(experiment, row, &means);
	return squared > 0 ? tail_two_sided((means.head - means.base) / sqrt(squared), freedom) : 1;
}

/*
 * Tests the difference of means between runs, of values whose samples are not counted (Welch 1947). `result` holds the
 * sums.
 */
static void test_uncounted(const struct experiment *experiment, size_t row, struct row_result *result)
{
	double squared = squared_error(experiment, row, &result->freedom);

	if (!(squared > 0))
		return;
	result->tested = true;
	result->effect = result->judged = result->head - result->base;
	result->small_error = sqrt(squared);
	result->p = tail_two_sided(result->effect / result->small_error, result->freedom);
	result->variance = NAN;
}

/* Returns the exact test if head had `load` times the load that the scale takes it to have. */
static double exact_p(
	const struct experiment *experiment, size_t row, const struct row_result *result, double variance, double load)
{
	double base_weight = experiment_sample_weight(experiment, DIFF_BASE, row);
	double head_weight = experiment_sample_weight(experiment, DIFF_HEAD, row) * experiment->factor;
	double base = result->base / base_weight, head = result->head / head_weight;
	double limit = fmax(base, head) > max_exact_samples ? max_exact_samples / fmax(base, head) : 1;
	/* If the scaled times are equal, the counts are in inverse proportion to the samples' weights. */
	double share = base_weight / (base_weight + head_weight / load);

	return tail_exact(round(base * limit), round(head * limit), share, variance);
}

void small_test(const struct experiment *experiment, size_t row, double variance, struct row_result *result)
{
	const struct load_range *load = &experiment->load;
	double base_weight = experiment_sample_weight(experiment, DIFF_BASE, row);
	double head_weight = experiment_sample_weight(experiment, DIFF_HEAD, row) * experiment->factor;
	double base = result->base / base_weight, head = result->head / head_weight;
	double error_base = base_weight * sqrt(fmax(base, 1)), error_head = head_weight * sqrt(fmax(head, 1));
	double mean = (result->base + result->head) / 2;

	if (!(experiment->sides[DIFF_BASE].sample_weight > 0)) {
		test_uncounted(experiment, row, result);
		return;
	}
	result->tested = true;
	result->p = load->is_open ? fmax(exact_p(experiment, row, result, variance, exp(load->low)),
					    exact_p(experiment, row, result, variance, exp(load->high)))
				  : exact_p(experiment, row, result, variance, 1);
	result->less_by_load = load->high;
	result->more_by_load = -load->low;
	result->freedom = INFINITY;
	result->effect = result->judged = result->head - result->base;
	result->small_error = sqrt(error_base * error_base + error_head * error_head + mean * mean * variance);
	result->variance = NAN;
}
