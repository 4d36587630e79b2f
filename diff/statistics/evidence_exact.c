/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence_exact.h"

#include "diff/statistics/runtime.h"
#include "diff/statistics/units.h"

#include <math.h>

/* Fewer repeats do not show how far they differ. */
enum { EXACT_MIN_RUNS = 3 };

/*
 * [runs on the side with fewer] the factor on the range of its runs: the ratio of a difference to the greater range
 * that one of a thousand functions exceeds by chance where runs scatter by a normal distribution is 17.8, 3.1, 1.7 and
 * 1.2 for 2, 3, 4 and 5 runs. Runs of CPython scatter less evenly, and need the 4 and the 2: see
 * tests/unit/diff/data/exact.csv. One run on a side has no range; that of the other side counts as that of two runs.
 */
static const double range_factors[] = { 18, 18, 18, 4, 2 };
enum { MOST_FACTORS = sizeof(range_factors) / sizeof(range_factors[0]) };

/*
 * The part of the total by which a function, or the whole, is assumed to differ between two runs of a program that is
 * interpreted, compiled at run time or garbage collected. Runs of short programs of CPython and node differed by up to
 * 0.0025 in cycles and instructions, and 0.0044 in misses (decision 58); only node's ll-misses by more, 0.011.
 */
static const double assumed_share = 0.005;

/*
 * Returns the range of a row's values in the runs of one side, times their number: as large as a difference of the
 * sums.
 */
static double evidence_exact_range_of(const struct experiment *experiment, enum diff_side side, size_t row)
{
	size_t runs = experiment->sides[side].unit_count;
	const double *values = experiment_values(experiment, side, row);
	double least = values[0], most = values[0];

	for (size_t run = 1; run < runs; run++) {
		least = fmin(least, values[run]);
		most = fmax(most, values[run]);
	}
	return (most - least) * (double)runs;
}

static double range_factor(size_t fewer_runs)
{
	return range_factors[fewer_runs < MOST_FACTORS ? fewer_runs : MOST_FACTORS - 1];
}

double evidence_exact_noise(
	const double ranges[DIFF_SIDES], const size_t runs[DIFF_SIDES], bool has_runtime, double total)
{
	size_t fewer = runs[DIFF_BASE] < runs[DIFF_HEAD] ? runs[DIFF_BASE] : runs[DIFF_HEAD];
	double assumed = fewer < EXACT_MIN_RUNS && has_runtime ? assumed_share * total : 0;

	return fmax(range_factor(fewer) * fmax(ranges[DIFF_BASE], ranges[DIFF_HEAD]), assumed);
}

/* `was_there`, `is_there`: whether the function occurs in base and in head. */
static enum diff_state exact_state(double delta, double noise, double least, bool was_there, bool is_there)
{
	if (fabs(delta) < least)
		return DIFF_STATE_SAME;
	if (fabs(delta) <= noise)
		return DIFF_STATE_UNPROVEN;
	if (!was_there)
		return DIFF_STATE_NEW;
	if (!is_there)
		return DIFF_STATE_GONE;
	return delta > 0 ? DIFF_STATE_MORE : DIFF_STATE_LESS;
}

static void judge_estimate(
	struct diff_estimate *estimate, double noise, double least, const struct diff_estimate *whole)
{
	estimate->detectable = fmax(noise, least);
	estimate->state = exact_state(estimate->delta, noise, least, whole->base > 0, whole->head > 0);
}

static void evidence_exact_judge_row(
	struct diff *diff, const struct experiment *experiment, size_t number, double noise, double least)
{
	const struct row *row = &experiment->rows[number];
	struct diff_function *f = &diff->functions[row->id];
	struct row_result sums;

	switch (row->kind) {
	case ROW_WHOLE:
		judge_estimate(&diff->total, noise, least, &diff->total);
		diff->nodes[0].state = (uint8_t)diff->total.state;
		break;
	case ROW_SELF:
		judge_estimate(&f->self, noise, least, &f->total);
		break;
	case ROW_TOTAL:
		judge_estimate(&f->total, noise, least, &f->total);
		break;
	case ROW_NODE:
		experiment_scale(experiment, number, &sums);
		diff->nodes[row->id].state =
			(uint8_t)exact_state(sums.head - sums.base, noise, least, sums.base > 0, sums.head > 0);
		break;
	}
}

void evidence_exact(struct diff_build *build, const struct experiment *experiment)
{
	struct diff *diff = build->diff;
	size_t runs[DIFF_SIDES] = { experiment->sides[DIFF_BASE].unit_count, experiment->sides[DIFF_HEAD].unit_count };
	bool has_repeats = runs[DIFF_BASE] >= EXACT_MIN_RUNS && runs[DIFF_HEAD] >= EXACT_MIN_RUNS;
	bool has_runtime = runtime_has(build_whole(diff));
	double least = build_least_effect(build);

	diff->evidence.q = NAN;
	diff->evidence.assumed_part = has_repeats || !has_runtime ? 0 : assumed_share;
	for (size_t row = 0; row < experiment->row_count; row++) {
		double ranges[DIFF_SIDES] = { evidence_exact_range_of(experiment, DIFF_BASE, row),
			evidence_exact_range_of(experiment, DIFF_HEAD, row) * experiment->factor };

		evidence_exact_judge_row(diff, experiment, row,
			evidence_exact_noise(ranges, runs, has_runtime, build_points_of(build_whole(diff))), least);
	}
}
