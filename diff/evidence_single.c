/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence_single.h"

#include "diff/small.h"
#include "diff/tails.h"

#include <math.h>

/* Of the whole time; a function of this share varies by the root of two more than a large one. */
static const double small_share = 0.005;

/* Relative variance of a side's sum by the delete-one jackknife on its blocks. */
static double jackknife(const struct experiment *experiment, enum diff_side side, size_t row, bool as_share)
{
	const double *values = experiment_values(experiment, side, row), *sizes = experiment_values(experiment, side, 0);
	size_t blocks = experiment->sides[side].unit_count;
	double n = (double)blocks, sum = experiment_sum(experiment, side, row), size = experiment_sum(experiment, side, 0);
	double mean = 0, squares = 0;

	if (blocks < 2 || !(sum > 0))
		return 0;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t block = 0; block < blocks; block++) {
			double left = as_share ? size - sizes[block] : n - 1, all = as_share ? size : n;
			double estimate = left > 0 ? (sum - values[block]) / left / (sum / all) : 0;

			if (pass == 0)
				mean += estimate / n;
			else
				squares += (estimate - mean) * (estimate - mean);
		}
	}
	return (n - 1) / n * squares;
}

/*
 * Functions that vary between processes independently of each other make a whole that varies less: by the root of the sum of the
 * squares of their shares.
 */
static double whole_floor(const struct experiment *experiment, double floor)
{
	struct row_result whole, part;
	double squares = 0;

	experiment_scale(experiment, 0, &whole);
	for (size_t row = 1; row < experiment->row_count; row++) {
		if (experiment->rows[row].kind != ROW_SELF)
			continue;
		experiment_scale(experiment, row, &part);
		squares += pow((part.base + part.head) / (whole.base + whole.head), 2);
	}
	return floor * sqrt(fmin(squares, 1));
}

/*
 * Small functions vary more: which of two neighbouring instructions a sample lands on depends on where the code lies, and a
 * function of few instructions wins or loses much of its time by it.
 */
static double floor_at(const struct row_result *whole, const struct row_result *row, double floor)
{
	double share = (row->base + row->head) / (whole->base + whole->head);

	return floor * sqrt(1 + small_share / share);
}

static void test_row(const struct experiment *experiment, size_t row, bool as_share, double floor, struct row_result *result)
{
	double variance = 2 * floor * floor, parts = 0, excess = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double samples = experiment_sum(experiment, side, row) / experiment->sides[side].sample_weight;
		double counting = samples > 0 ? 1 / samples : 0, own = fmax(jackknife(experiment, side, row, as_share), counting);

		variance += own;
		excess += own - counting;
		if (experiment->sides[side].unit_count > 1)
			parts += own * own / ((double)experiment->sides[side].unit_count - 1);
	}
	if (small_counts(experiment, row)) {
		small_test(experiment, 2 * floor * floor + excess, result);
		return;
	}
	result->tested = true;
	result->effect = log(result->head / result->base);
	result->variance = variance;
	result->freedom = parts > 0 ? variance * variance / parts : INFINITY;
	result->p = tail_two_sided(result->effect / sqrt(variance), result->freedom);
}

void evidence_single(
	const struct experiment *experiment, bool as_share, const struct process_floor *floor, struct row_result *results)
{
	double whole = whole_floor(experiment, floor->others);

	for (size_t row = 0; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];
		double own = r->kind == ROW_WHOLE ? whole : r->changed ? floor->changed : floor->others;

		results[row] = (struct row_result){ .q = NAN };
		experiment_scale(experiment, row, &results[row]);
		if (r->kind != ROW_WHOLE)
			own = floor_at(&results[0], &results[row], own);
		test_row(experiment, row, as_share, own, &results[row]);
	}
}
