/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/run_figures.h"

#include "diff/statistics/layouts.h"
#include "diff/statistics/pairs.h"

#include <math.h>
#include <stdlib.h>

/*
 * The modified z score, and the score from which on a value is an outlier: Iglewicz and Hoaglin 1993, "How to detect
 * and handle outliers".
 */
static const double z_per_deviation = 0.6745;
static const double outlier_z = 3.5;

/* A run within this share of the median is no outlier, even if all others agree to the last page. */
static const double outlier_share = 0.05;

static double figure_of(const struct profile_run *run, enum diff_run_figure figure)
{
	switch (figure) {
	case DIFF_RUN_WALL:
		return (double)run->wall_ns;
	case DIFF_RUN_CPU:
		return (double)run->cpu_ns;
	case DIFF_RUN_MEMORY:
		return (double)run->peak_memory_bytes;
	}
	return 0;
}

static bool run_figures_is_known(const struct profile *profile, enum diff_run_figure figure)
{
	for (size_t i = 0; i < profile->run_count; i++) {
		if (!(figure_of(&profile->runs[i], figure) > 0))
			return false;
	}
	return profile->run_count > 0;
}

/* Mean and variance of the mean of `count` values. */
struct moments {
	double mean, variance, freedom;
};

static struct moments moments_of(double sum, double squares, size_t count)
{
	double n = (double)count, mean = sum / n;

	return (struct moments){ mean, count > 1 ? fmax(squares - n * mean * mean, 0) / (n - 1) / n : NAN, n - 1 };
}

/*
 * The mean of the runs of the layout that run `first` is the first of, in differences to run 0; false: it is not the
 * first.
 */
static bool layout_mean(
	const struct profile *profile, enum diff_run_figure figure, bool as_log, size_t first, double *mean)
{
	double reference = figure_of(&profile->runs[0], figure), sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		double value = figure_of(&profile->runs[i], figure);

		if (profile->runs[i].layout != profile->runs[first].layout)
			continue;
		if (i < first)
			return false;
		sum += as_log ? log(value / reference) : value - reference;
		count++;
	}
	*mean = sum / (double)count;
	return true;
}

/* Returns the moments of runs, or of the means of layouts where there are several. */
static struct moments side_moments(const struct profile *profile, enum diff_run_figure figure, bool as_log)
{
	double first = figure_of(&profile->runs[0], figure), sum = 0, squares = 0;
	bool has_layouts = layouts_count(profile) > 1;
	struct moments moments;
	size_t count = 0;

	/* Differences to the first run are summed, so that large values that hardly differ keep their digits. */
	for (size_t i = 0; i < profile->run_count; i++) {
		double value = figure_of(&profile->runs[i], figure), off = as_log ? log(value / first) : value - first;

		if (has_layouts && !layout_mean(profile, figure, as_log, i, &off))
			continue;
		sum += off;
		squares += off * off;
		count++;
	}
	moments = moments_of(sum, squares, count);
	moments.mean += as_log ? log(first) : first;
	return moments;
}

/*
 * Moments of the logarithm of head over base. When runs are compared in pairs, a slowdown of both runs of a pair
 * cancels out.
 */
static struct moments change_moments(
	const struct profile *base, const struct profile *head, enum diff_run_figure figure, bool in_pairs)
{
	struct moments b = side_moments(base, figure, true), h = side_moments(head, figure, true);
	double sum = 0, squares = 0, variance = b.variance + h.variance;

	if (in_pairs && base->run_count == head->run_count) {
		for (size_t i = 0; i < base->run_count; i++) {
			double off = log(figure_of(&head->runs[i], figure) / figure_of(&base->runs[i], figure));

			sum += off;
			squares += off * off;
		}
		return moments_of(sum, squares, base->run_count);
	}
	/* Degrees of freedom by Welch and Satterthwaite. */
	return (struct moments){ h.mean - b.mean, variance,
		variance > 0 ? variance * variance /
				       (b.variance * b.variance / b.freedom + h.variance * h.variance / h.freedom)
			     : b.freedom + h.freedom };
}

static void run_figures_interval_of(const struct moments *moments, double *low, double *high)
{
	double half = moments->freedom >= 1
			      ? tail_quantile(tail_of_interval, moments->freedom) * sqrt(moments->variance)
			      : NAN;

	*low = moments->mean - half;
	*high = moments->mean + half;
}

/* Makes the interval of the change: by ranks where pairs vary wildly. It has the mean in it, which is shown beside. */
static void interval_of_change(const struct profile *base, const struct profile *head, enum diff_run_figure figure,
	bool in_pairs, const struct moments *change, struct diff_run_summary *summary)
{
	double differences[SIGNED_RANK_MOST];
	size_t count = base->run_count;
	struct signed_rank ranks;

	run_figures_interval_of(change, &summary->change_low, &summary->change_high);
	if (!in_pairs || count != head->run_count || count > SIGNED_RANK_MOST)
		return;
	for (size_t i = 0; i < count; i++)
		differences[i] = log(figure_of(&head->runs[i], figure) / figure_of(&base->runs[i], figure));
	if (!pairs_by_ranks(differences, count, &ranks))
		return;
	summary->change_low = fmin(ranks.low, change->mean);
	summary->change_high = fmax(ranks.high, change->mean);
}

bool diff_summarize_runs(const struct profile *base, const struct profile *head, enum diff_run_figure figure,
	bool in_pairs, struct diff_run_summary *summary)
{
	const struct profile *const profiles[DIFF_SIDES] = { base, head };
	struct moments change;

	if (!run_figures_is_known(base, figure) || !run_figures_is_known(head, figure))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct moments own = side_moments(profiles[side], figure, false);

		summary->mean[side] = own.mean;
		run_figures_interval_of(&own, &summary->low[side], &summary->high[side]);
		/* No figure is negative. */
		summary->low[side] = isnan(summary->low[side]) ? NAN : fmax(summary->low[side], 0);
	}
	change = change_moments(base, head, figure, in_pairs);
	interval_of_change(base, head, figure, in_pairs, &change, summary);
	summary->change = expm1(change.mean);
	summary->change_low = expm1(summary->change_low);
	summary->change_high = expm1(summary->change_high);
	return true;
}

struct run_spread run_spread_of(const double *values, size_t count, struct weighted_value *scratch)
{
	struct run_spread spread;

	for (size_t i = 0; i < count; i++)
		scratch[i] = (struct weighted_value){ values[i], 1 };
	spread.median = weighted_median(scratch, count);
	for (size_t i = 0; i < count; i++)
		scratch[i] = (struct weighted_value){ fabs(values[i] - spread.median), 1 };
	spread.deviation = weighted_median(scratch, count);
	return spread;
}

bool run_is_far(const struct run_spread *spread, double value)
{
	return z_per_deviation * fabs(value - spread->median) > outlier_z * spread->deviation;
}

static void spread_of(const struct profile *profile, enum diff_run_figure figure, struct run_spread *spread)
{
	size_t count = profile->run_count;
	CLEANUP(cleanup_free) struct weighted_value *scratch = memory_alloc((count + 1) * sizeof(*scratch));
	CLEANUP(cleanup_free) double *values = memory_alloc((count + 1) * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = figure_of(&profile->runs[i], figure);
	*spread = run_spread_of(values, count, scratch);
}

static bool lies_far(const struct run_spread *spread, double value)
{
	return fabs(value - spread->median) > outlier_share * spread->median && run_is_far(spread, value);
}

void diff_run_is_outlier(
	const struct profile *profile, enum diff_run_figure figure, size_t run, double *median, bool *outlier)
{
	struct run_spread spread;

	spread_of(profile, figure, &spread);
	*median = spread.median;
	*outlier = lies_far(&spread, figure_of(&profile->runs[run], figure));
}

static void run_figures_collect_outliers(
	struct diff_build *build, enum diff_side side, enum diff_run_figure figure, size_t *capacity)
{
	const struct profile *profile = build->profiles[side];
	struct diff_runs *runs = &build->diff->runs;
	struct run_spread spread;

	spread_of(profile, figure, &spread);
	for (size_t run = 0; run < profile->run_count; run++) {
		double value = figure_of(&profile->runs[run], figure);

		if (!lies_far(&spread, value))
			continue;
		ARRAY_PUSH(&runs->outliers, capacity, &runs->outlier_count,
			(struct diff_outlier){ side, figure, run, value, spread.median });
	}
}

void run_figures_collect(struct diff_build *build)
{
	struct diff_runs *runs = &build->diff->runs;
	size_t capacity = 0;

	/* What a simulator takes to run a program says nothing about the program. */
	if (build->diff->is_exact)
		return;
	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++) {
		enum diff_run_figure figure = (enum diff_run_figure)i;

		runs->known[i] = diff_summarize_runs(build->profiles[DIFF_BASE], build->profiles[DIFF_HEAD], figure,
			build->options.runs_in_pairs, &runs->figures[i]);
		for (int side = 0; runs->known[i] && side < DIFF_SIDES; side++)
			run_figures_collect_outliers(build, (enum diff_side)side, figure, &capacity);
	}
}
