/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rows.h"

#include <math.h>
#include <stdlib.h>

/*
 * A function that changes by the least effect from one profile to the next has a mean of half of it in these two. One
 * that never has so much in two profiles that follow each other cannot have changed.
 */
static const double least_share = 0.5;

/* Rows with fewer samples cannot prove anything (diff/statistics/units.c). */
static const double min_samples = 10;

/* Sums over profiles, from which a row's mean and counting variance come. */
struct history_rows_sums {
	double largest;             /* mean of the totals of two neighbours, in percent */
	size_t last;                /* the profile behind the last one that has the function */
	double value;               /* its total there */
	double self_errors, errors; /* sums of squared errors, scaled */
	double self_sizes, sizes;   /* sums of factor times value: what counting variance is in proportion to */
	double difference;          /* of total and self */
	size_t index;               /* of its values; SIZE_MAX: it is not tested */
};

static double history_rows_percent_of(const struct history_series *series, size_t profile)
{
	return series->factor[profile] * 100 / series->typical_total;
}

static void sum_up(const struct history *history, const struct history_series *series, struct history_rows_sums *sums)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);
		double factor = history_rows_percent_of(series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];
			struct history_rows_sums *s = &sums[row->function];

			s->largest = fmax(s->largest, (row->total * factor + (s->last == i ? s->value : 0)) / 2);
			s->last = i + 1;
			s->value = row->total * factor;
			s->self_errors += pow(row->self_error * factor, 2);
			s->errors += pow(row->total_error * factor, 2);
			s->self_sizes += row->self * factor * factor;
			s->sizes += row->total * factor * factor;
			s->difference += fabs(row->total - row->self) * factor;
		}
	}
}

static size_t history_rows_choose(const struct history_build *build, struct history_rows_sums *sums)
{
	const struct summary_set *set = build->history->set;
	size_t chosen = 0;

	for (size_t f = 0; f < set->function_count; f++) {
		bool is_tested = !set->functions[f].interrupt &&
				 sums[f].largest >= build->options.min_effect_points * least_share;

		sums[f].index = is_tested ? chosen++ : SIZE_MAX;
	}
	return chosen;
}

/* Fills the values of each chosen function: the self times of all profiles, then the totals. */
static void fill_values(const struct history *history, const struct history_series *series,
	const struct history_rows_sums *sums, double *values)
{
	size_t n = series->count;

	for (size_t i = 0; i < n; i++) {
		const struct summary *summary = series_summary(history, series, i);
		double factor = history_rows_percent_of(series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];
			size_t index = sums[row->function].index;

			if (index == SIZE_MAX)
				continue;
			values[2 * index * n + i] = row->self * factor;
			values[(2 * index + 1) * n + i] = row->total * factor;
		}
	}
}

static double history_rows_mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static void history_rows_add_row(struct tested_rows *rows, const struct tested_row *row)
{
	struct tested_row added = *row;

	added.dependence = 1;
	added.mean = history_rows_mean_of(row->values, rows->series->count);
	if (added.mean <= 0)
		return;
	/* It was for a mean of 1, and for the factor of the row's unit. */
	added.counting /= added.mean;
	if (row->function != HISTORY_WHOLE)
		added.counting *= 100 / rows->series->typical_total;
	added.samples =
		added.counting > 0
			? (double)rows->series->count /
				  (added.counting * history_rows_mean_of(rows->series->factor, rows->series->count))
			: INFINITY;
	if (added.samples >= min_samples)
		rows->items[rows->count++] = added;
}

static double ratio_of(double errors, double sizes)
{
	return sizes > 0 ? errors / sizes : 0;
}

/* The error of the total is that of its rate by requests. */
static void add_whole(const struct history_build *build, struct tested_rows *rows, double *values)
{
	const struct history_series *series = rows->series;
	double errors = 0, sizes = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(build->history, series, i);
		double factor = series->factor[i];

		values[i] = summary->total * factor;
		errors += pow(summary->total_error * factor, 2);
		sizes += values[i] * factor;
	}
	history_rows_add_row(
		rows, &(struct tested_row){ .function = HISTORY_WHOLE,
			      .values = values,
			      .counting = ratio_of(errors, sizes),
			      .least_effect = build->options.min_effect_points / 100 * series->typical_total });
}

static void history_rows_add_function(const struct history_build *build, struct tested_rows *rows,
	const struct history_rows_sums *sums, uint32_t function, double *values)
{
	double least = build->options.min_effect_points;

	history_rows_add_row(rows, &(struct tested_row){ .function = function,
					   .is_self = true,
					   .values = values,
					   .counting = ratio_of(sums->self_errors, sums->self_sizes),
					   .least_effect = least });
	/* A function that calls nothing is tested once. */
	if (sums->difference > 0)
		history_rows_add_row(rows, &(struct tested_row){ .function = function,
						   .values = values + rows->series->count,
						   .counting = ratio_of(sums->errors, sums->sizes),
						   .least_effect = least });
}

void rows_fill(const struct history_build *build, const struct history_series *series, const bool *is_known,
	struct tested_rows *rows)
{
	const struct summary_set *set = build->history->set;
	CLEANUP(cleanup_free) struct history_rows_sums *sums = memory_zeroed(set->function_count + 1, sizeof(*sums));
	size_t chosen;

	*rows = (struct tested_rows){ .series = series, .is_known = is_known };
	sum_up(build->history, series, sums);
	chosen = history_rows_choose(build, sums);
	rows->items = memory_zeroed(2 * chosen + 1, sizeof(*rows->items));
	rows->values = memory_zeroed((2 * chosen + 1) * series->count, sizeof(*rows->values));
	fill_values(build->history, series, sums, rows->values);
	if (series->scale != DIFF_SCALE_ROBUST)
		add_whole(build, rows, rows->values + 2 * chosen * series->count);
	for (uint32_t f = 0; f < set->function_count; f++) {
		if (sums[f].index != SIZE_MAX)
			history_rows_add_function(
				build, rows, &sums[f], f, rows->values + 2 * sums[f].index * series->count);
	}
}

void rows_deinit(struct tested_rows *rows)
{
	free(rows->items);
	free(rows->values);
}
