/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/run_figures.h"

#include "diff/evidence/evidence.h"
#include "diff/statistics/layouts.h"

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
static struct moments side_moments(const struct profile *profile, enum diff_run_figure figure)
{
	double first = figure_of(&profile->runs[0], figure), sum = 0, squares = 0;
	bool has_layouts = layouts_count(profile) > 1;
	struct moments moments;
	size_t count = 0;

	/* Differences to the first run are summed, so that large values that hardly differ keep their digits. */
	for (size_t i = 0; i < profile->run_count; i++) {
		double off = figure_of(&profile->runs[i], figure) - first;

		if (has_layouts && !layout_mean(profile, figure, false, i, &off))
			continue;
		sum += off;
		squares += off * off;
		count++;
	}
	moments = moments_of(sum, squares, count);
	moments.mean += first;
	return moments;
}

static void run_figures_interval_of(const struct moments *moments, double *low, double *high)
{
	double half = moments->freedom >= 1
			      ? tail_quantile(tail_of_interval, moments->freedom) * sqrt(moments->variance)
			      : NAN;

	*low = moments->mean - half;
	*high = moments->mean + half;
}

/* Fills the logarithms of a side's runs, or of the means of layouts where there are several. Returns their number. */
static size_t side_logarithms(const struct profile *profile, enum diff_run_figure figure, double *values)
{
	double first = log(figure_of(&profile->runs[0], figure));
	bool has_layouts = layouts_count(profile) > 1;
	size_t count = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		double off = log(figure_of(&profile->runs[i], figure)) - first;

		if (!has_layouts || layout_mean(profile, figure, true, i, &off))
			values[count++] = first + off;
	}
	return count;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i] / (double)count;
	return sum;
}

/*
 * Makes the change, and its interval by the model of evidence, of which whole runs are a row. The change is that of
 * the means, which are shown beside it, and in its interval.
 */
static void summarize_change(const struct profile *const profiles[DIFF_SIDES], enum diff_run_figure figure,
	bool in_pairs, struct diff_run_summary *summary)
{
	static const struct evidence_factor none = { 0 };
	size_t most = profiles[DIFF_BASE]->run_count + profiles[DIFF_HEAD]->run_count;
	CLEANUP(cleanup_free) double *storage = memory_alloc(4 * most * sizeof(*storage));
	struct evidence_row row = { .class = EVIDENCE_TOTAL_SUITE };
	double *values[DIFF_SIDES], *parts[DIFF_SIDES], mean;
	struct evidence evidence;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double *own = storage + (side == DIFF_BASE ? 0 : 4 * profiles[DIFF_BASE]->run_count);
		size_t runs = profiles[side]->run_count, count;

		values[side] = own;
		parts[side] = own + runs;
		count = side_logarithms(profiles[side], figure, values[side]);
		evidence_count_values(values[side], NULL, NULL, count, own + 2 * runs, own + 3 * runs);
		row.sides[side] = (struct evidence_counts){ own + 2 * runs, own + 3 * runs, count };
	}
	mean = mean_of(values[DIFF_HEAD], row.sides[DIFF_HEAD].count) -
	       mean_of(values[DIFF_BASE], row.sides[DIFF_BASE].count);
	row.in_pairs = in_pairs && row.sides[DIFF_BASE].count == row.sides[DIFF_HEAD].count;
	evidence_find_disturbed(&row, parts);
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct evidence_counts *counts = &row.sides[side];
		double *samples = values[side] + 2 * profiles[side]->run_count;

		evidence_count_values(
			values[side], NULL, parts[side], counts->count, samples, samples + profiles[side]->run_count);
		counts->parts = parts[side];
	}
	evidence_weigh_row(&row, &none, &evidence);
	evidence_interval(&evidence, &summary->change_low, &summary->change_high);
	summary->change = expm1(mean);
	summary->change_low = expm1(fmin(summary->change_low, mean));
	summary->change_high = expm1(fmax(summary->change_high, mean));
}

bool diff_summarize_runs(const struct profile *base, const struct profile *head, enum diff_run_figure figure,
	bool in_pairs, struct diff_run_summary *summary)
{
	const struct profile *const profiles[DIFF_SIDES] = { base, head };

	if (!run_figures_is_known(base, figure) || !run_figures_is_known(head, figure))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct moments own = side_moments(profiles[side], figure);

		summary->mean[side] = own.mean;
		run_figures_interval_of(&own, &summary->low[side], &summary->high[side]);
		/* No figure is negative. */
		summary->low[side] = isnan(summary->low[side]) ? NAN : fmax(summary->low[side], 0);
	}
	summarize_change(profiles, figure, in_pairs, summary);
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
