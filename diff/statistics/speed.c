/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/speed.h"
#include "diff/probability/probability.h"

#include <math.h>

/*
 * A function is used for a run's size if it has this many samples a run on average. If fewer than MIN_FUNCTIONS have,
 * the run's total is used.
 */
static const double min_run_samples = 5;
enum { MIN_FUNCTIONS = 5 };

/*
 * A difference between the sides that the variation between runs would cause with less than this probability is not
 * attributed to the machine.
 */
static const double explained_tail = 0.02;

/* If sizes vary by less than this times their own variance, they show nothing of the machine. */
static const double quiet_ratio = 2;

/*
 * Relative standard deviation of single functions beyond counting. It keeps the largest functions from deciding alone.
 */
static const double ratio_rsd = 0.05;

void speed_deinit(struct speed *speed)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		free(speed->x[side]);
}

static double mean_samples(const struct experiment *experiment, enum diff_side side, size_t row)
{
	return experiment_samples(experiment, side, row) / (double)experiment->sides[side].unit_count;
}

/* Returns a run's size, and the variance of this estimate. */
static double run_size(const struct experiment *experiment, enum diff_side side, size_t run,
	struct weighted_value *ratios, double *variance)
{
	double units = (double)experiment->sides[side].unit_count, size;
	size_t count = 0;

	for (size_t row = 1; row < experiment->row_count; row++) {
		double samples = mean_samples(experiment, side, row);

		if (experiment->rows[row].kind != ROW_SELF || samples < min_run_samples)
			continue;
		ratios[count++] = (struct weighted_value){
			.value = experiment_values(experiment, side, row)[run] /
				 (experiment_sum(experiment, side, row) / units),
			.weight = 1 / (1 / samples + ratio_rsd * ratio_rsd),
		};
	}
	if (count >= MIN_FUNCTIONS) {
		size = weighted_midmean(ratios, count);
		*variance = weighted_median_variance(ratios, count, size);
		return size;
	}
	*variance = 1 / mean_samples(experiment, side, 0);
	return experiment_values(experiment, side, 0)[run] / (experiment_sum(experiment, side, 0) / units);
}

static void measure_side(const struct experiment *experiment, enum diff_side side, struct weighted_value *ratios,
	struct speed *speed, double *error)
{
	size_t units = experiment->sides[side].unit_count;
	double mean = 0, variance;

	speed->x[side] = memory_zeroed(units + 1, sizeof(*speed->x[side]));
	for (size_t run = 0; run < units; run++) {
		speed->x[side][run] = run_size(experiment, side, run, ratios, &variance);
		*error += variance;
		mean += speed->x[side][run] / (double)units;
	}
	for (size_t run = 0; run < units; run++) {
		speed->x[side][run] = mean > 0 ? speed->x[side][run] / mean - 1 : 0;
		speed->sum_squares += speed->x[side][run] * speed->x[side][run];
	}
}

/* Returns the median over the functions' ratios, and its variance. */
static double median_delta(const struct experiment *experiment, struct weighted_value *ratios, double *variance)
{
	size_t count = 0;
	double runs = (double)experiment->sides[DIFF_BASE].unit_count / (double)experiment->sides[DIFF_HEAD].unit_count,
	       median;

	*variance = 0;
	for (size_t row = 1; row < experiment->row_count; row++) {
		double base = mean_samples(experiment, DIFF_BASE, row), head = mean_samples(experiment, DIFF_HEAD, row);

		if (experiment->rows[row].kind != ROW_SELF || base < min_run_samples || head < min_run_samples)
			continue;
		ratios[count++] = (struct weighted_value){
			.value = log(experiment_sum(experiment, DIFF_HEAD, row) /
				     experiment_sum(experiment, DIFF_BASE, row)),
			.weight = 1 / (1 / base + 1 / head + 2 * ratio_rsd * ratio_rsd),
		};
	}
	if (count == 0)
		return log(experiment_sum(experiment, DIFF_HEAD, 0) / experiment_sum(experiment, DIFF_BASE, 0) * runs);
	median = weighted_median(ratios, count);
	*variance = weighted_median_variance(ratios, count, median);
	return median + log(runs);
}

static void make_quiet(const struct experiment *experiment, struct speed *speed)
{
	for (size_t side = 0; side < DIFF_SIDES; side++) {
		for (size_t run = 0; run < experiment->sides[side].unit_count; run++)
			speed->x[side][run] = 0;
	}
	speed->quiet = true;
	speed->sum_squares = 0;
}

void speed_measure(const struct experiment *experiment, double delta, struct speed *speed)
{
	CLEANUP(cleanup_free)
	struct weighted_value *ratios = memory_alloc((experiment->row_count + 1) * sizeof(*ratios));
	double base = (double)experiment->sides[DIFF_BASE].unit_count,
	       head = (double)experiment->sides[DIFF_HEAD].unit_count;
	double freedom = base + head - 2, median, error = 0;

	measure_side(experiment, DIFF_BASE, ratios, speed, &error);
	measure_side(experiment, DIFF_HEAD, ratios, speed, &error);
	/* If samples are not counted, the sizes cannot be separated from the variation of single functions. */
	if (!(experiment->sides[DIFF_BASE].sample_weight > 0) ||
		speed->sum_squares <= quiet_ratio * error * freedom / (base + head))
		make_quiet(experiment, speed);
	speed->variance = freedom > 0 ? speed->sum_squares / freedom : 0;
	median = median_delta(experiment, ratios, &speed->delta_error);
	speed->delta = isnan(delta) ? median : delta;
	speed->delta_variance = speed->variance * (1 / base + 1 / head);
	speed->explained = speed->delta == 0 || (speed->delta_variance > 0 && freedom > 0 &&
							tail_two_sided(speed->delta / sqrt(speed->delta_variance),
								freedom) > explained_tail);
}
