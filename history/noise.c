/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history/rows.h"

#include "probability/probability.h"

#include <math.h>
#include <stdlib.h>

/* Differences of profiles that follow each other, of which the largest are left out: they may be changes. */
static const double kept_part = 0.8;

/* What these differences know, in degrees of freedom for each: neighbours share a profile, and some are left out. */
static const double freedom_part = 0.4;

/* Fewer profiles do not show what profiles differ by; it is assumed then, as of changed code between two processes
 * (diff/statistics/floor.c). */
enum { MIN_PROFILES = 6, MIN_DEPENDENT = 10, MIN_SEGMENT = 4, MIN_CORRELATIONS = 3 };
static const double assumed_rsd = 0.055;

/* Less is chance. */
static const double least_correlation = 0.15, most_correlation = 0.9, least_part = 0.3;

static double counting_of(const struct tested_rows *rows, const struct tested_row *row, size_t profile)
{
	return row->counting * rows->series->factor[profile];
}

/* Of a value, for a scale and a mean of 1. */
static double variance_of(const struct tested_rows *rows, const struct tested_row *row, size_t profile)
{
	return fmax(counting_of(rows, row, profile) + rows->overdispersion, 1e-12);
}

double noise_weight(const struct tested_rows *rows, const struct tested_row *row, size_t profile)
{
	return 1 / variance_of(rows, row, profile);
}

/* Puts the lowest `kept` values first, in any order (Wirth 1976, "Algorithms + Data Structures", 2.3.4). */
static void partition(double *values, size_t count, size_t kept)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, last = (ptrdiff_t)kept - 1;

	while (low < high) {
		double pivot = values[last];
		ptrdiff_t i = low, k = high;

		while (i <= k) {
			double moved;

			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i > k)
				break;
			moved = values[i];
			values[i++] = values[k];
			values[k--] = moved;
		}
		if (k < last)
			low = i;
		if (last < i)
			high = k;
	}
}

/*
 * The variance of a row from its differences, as parts of what its weights expect; `scratch`: [profile]. Two profiles
 * that both lack the function say nothing of its noise.
 */
static double scale_of(const struct tested_rows *rows, const struct tested_row *row, double *scratch)
{
	size_t count = 0, kept;
	double sum = 0, variance = variance_of(rows, row, 0);

	for (size_t i = 0; i + 1 < rows->series->count; i++) {
		double next = variance_of(rows, row, i + 1);
		double difference = (row->values[i + 1] - row->values[i]) / row->mean;

		if (row->values[i] > 0 || row->values[i + 1] > 0)
			scratch[count++] = difference * difference / (variance + next);
		variance = next;
	}
	if (count == 0)
		return 1;
	kept = (size_t)ceil(kept_part * (double)count);
	partition(scratch, count, kept);
	for (size_t i = 0; i < kept; i++)
		sum += scratch[i];
	return sum / (double)kept / tail_mean_of_squares((double)kept / (double)count);
}

static double mean_variance(const struct tested_rows *rows, const struct tested_row *row)
{
	double sum = 0;

	for (size_t i = 0; i < rows->series->count; i++)
		sum += variance_of(rows, row, i);
	return sum / (double)rows->series->count;
}

static double mean_counting(const struct tested_rows *rows, const struct tested_row *row)
{
	double sum = 0;

	for (size_t i = 0; i < rows->series->count; i++)
		sum += counting_of(rows, row, i);
	return sum / (double)rows->series->count;
}

/*
 * Fills each row's own scale, and fits what they share to those of self times. The whole is of another kind than
 * functions: it does not say how those vary, nor do they say how it does.
 */
static bool fit(struct tested_rows *rows, struct dispersion *dispersions, double freedom, double *scratch,
	struct moderation *moderation, struct error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct tested_row *row = &rows->items[i];

		row->scale = scale_of(rows, row, scratch);
		if (row->function != HISTORY_WHOLE && row->is_self)
			dispersions[count++] = (struct dispersion){ row->scale * mean_variance(rows, row),
				fmax(mean_counting(rows, row), 1e-12) };
	}
	return moderation_fit(dispersions, count, freedom, moderation, err);
}

/* ---- Dependence ---- */

/* The variance of a row's values about their means between deploys, in the same unit as scale_of(); NAN: too few. */
static double spread_of(const struct tested_rows *rows, const struct tested_row *row)
{
	const struct history_series *series = rows->series;
	double sum = 0, freedom = 0;

	for (size_t p = 0; p <= series->point_count; p++) {
		size_t from = p == 0 ? 0 : series->points[p - 1].at;
		size_t to = p == series->point_count ? series->count : series->points[p].at;
		double weights = 0, values = 0;

		if (to - from < MIN_SEGMENT)
			continue;
		for (size_t i = from; i < to; i++) {
			weights += noise_weight(rows, row, i);
			values += noise_weight(rows, row, i) * row->values[i];
		}
		for (size_t i = from; i < to; i++)
			sum += noise_weight(rows, row, i) * pow((row->values[i] - values / weights) / row->mean, 2);
		freedom += (double)(to - from - 1);
	}
	return freedom >= MIN_SEGMENT ? sum / freedom : NAN;
}

/* How much of a row's variance is not counting: 0 to 1. */
static double overdispersed_part(const struct tested_rows *rows, const struct tested_row *row)
{
	return rows->overdispersion > 0 ? rows->overdispersion / (rows->overdispersion + mean_counting(rows, row)) : 0;
}

/* The variance of the mean of `count` values of a first order autoregression, in units of theirs. */
static double variance_of_mean(double correlation, double count)
{
	double sum = 1, power = 1;

	for (double lag = 1; lag < count && power > 1e-3; lag++) {
		power *= correlation;
		sum += 2 * (1 - lag / count) * power;
	}
	return sum / count;
}

/*
 * The correlation at which differences of neighbours have `ratio` times the variance of values about their means over
 * `count` of them: means follow the values, the more so the longer a mood lasts.
 */
static double correlation_of(double ratio, double count)
{
	double low = 0, high = most_correlation;

	for (int round = 0; round < 30; round++) {
		double middle = (low + high) / 2;
		double expected = (1 - middle) / ((1 - variance_of_mean(middle, count)) * count / (count - 1));

		if (expected > ratio)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* The mean length of the stretches that spread_of() looks at. */
static double mean_stretch(const struct history_series *series)
{
	double lengths = 0, stretches = 0;

	for (size_t p = 0; p <= series->point_count; p++) {
		size_t from = p == 0 ? 0 : series->points[p - 1].at;
		size_t to = p == series->point_count ? series->count : series->points[p].at;

		if (to - from >= MIN_SEGMENT) {
			lengths += (double)(to - from);
			stretches++;
		}
	}
	return stretches > 0 ? lengths / stretches : 0;
}

/*
 * Noise that lasts longer than a profile makes differences of neighbours smaller than what values differ by: of a first
 * order autoregression with correlation r they show 1 - r of the variance, and the variance of a mean is greater by
 * (1 + r) / (1 - r) than that of independent values. The median over functions, as few of them change. Counts of
 * samples are independent, and functions that vary by little else say nothing of it. Needs each row's own scale.
 */
static bool dependence_fill(struct tested_rows *rows, struct error *err)
{
	CLEANUP(cleanup_free) struct weighted_value *ratios = malloc((rows->count + 1) * sizeof(*ratios));
	size_t count = 0;
	double correlation;

	if (!ratios)
		return error_set_memory(err);
	for (size_t i = 0; rows->series->count >= MIN_DEPENDENT && i < rows->count; i++) {
		double spread = spread_of(rows, &rows->items[i]), part = overdispersed_part(rows, &rows->items[i]);

		if (spread > 0 && part > least_part)
			ratios[count++] = (struct weighted_value){ rows->items[i].scale / spread, part };
	}
	if (count < MIN_CORRELATIONS)
		return true;
	correlation = correlation_of(weighted_median(ratios, count), mean_stretch(rows->series));
	if (correlation < least_correlation)
		return true;
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].dependence = 1 + ((1 + correlation) / pow(1 - correlation, 2) - 1) *
							overdispersed_part(rows, &rows->items[i]);
	return true;
}

/* ---- All of it ---- */

static void assume(struct tested_rows *rows)
{
	rows->overdispersion = assumed_rsd * assumed_rsd;
	for (size_t i = 0; i < rows->count; i++) {
		rows->items[i].scale = 1;
		rows->items[i].freedom = INFINITY;
	}
}

bool noise_fill(struct tested_rows *rows, struct error *err)
{
	size_t n = rows->series->count;
	double freedom = freedom_part * ((double)n - 1);
	CLEANUP(cleanup_free) struct dispersion *dispersions = malloc((rows->count + 1) * sizeof(*dispersions));
	CLEANUP(cleanup_free) double *scratch = malloc(n * sizeof(*scratch));
	struct moderation moderation;

	if (!dispersions || !scratch)
		return error_set_memory(err);
	if (n < MIN_PROFILES) {
		assume(rows);
		return true;
	}
	if (!fit(rows, dispersions, freedom, scratch, &moderation, err))
		return false;
	rows->overdispersion = moderation.overdispersion;
	/* Once more, with weights that know of it. */
	if (!fit(rows, dispersions, freedom, scratch, &moderation, err) || !dependence_fill(rows, err))
		return false;
	for (size_t i = 0; i < rows->count; i++) {
		struct tested_row *row = &rows->items[i];
		double expected = mean_variance(rows, row);
		struct dispersion own = { row->scale * expected, mean_counting(rows, row) };

		row->freedom = freedom;
		row->scale = row->function == HISTORY_WHOLE
				     ? fmax(own.variance, own.poisson) / expected
				     : moderation_posterior(&moderation, &own, freedom, &row->freedom) / expected;
	}
	return true;
}
