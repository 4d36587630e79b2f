/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rows.h"

#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>

/* Differences of profiles that follow each other, of which the largest are left out: they may be changes. */
static const double kept_part = 0.8;

/* A function that has so many samples in a profile is in each of them, unless it changed. */
static const double samples_of_all = 5;

/*
 * The weight of these differences, in degrees of freedom for each: neighbours share a profile, and some are left out.
 */
static const double freedom_part = 0.4;

/* Fewer profiles do not show what profiles differ by; it is assumed then. */
enum { MIN_PROFILES = 6, MIN_DEPENDENT = 10, MIN_CORRELATIONS = 3 };

/* Less is chance. */
static const double least_correlation = 0.15, most_correlation = 0.9, least_part = 0.3;

static double counting_of(const struct tested_rows *rows, const struct tested_row *row, size_t profile)
{
	return row->counting * rows->series->factor[profile];
}

/* Returns the variance of a value for a scale and a mean of 1. */
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
 * Returns the variance of a row from differences of profiles that lie `lag` apart, as parts of what its weights expect;
 * `scratch`: [profile]. Two profiles that both lack a function which others have many samples of say nothing of its
 * noise.
 */
static double noise_scale_of(const struct tested_rows *rows, const struct tested_row *row, size_t lag, double *scratch)
{
	size_t count = 0, kept;
	bool is_sparse = row->samples < samples_of_all * (double)rows->series->count;
	double sum = 0;

	for (size_t i = 0; i + lag < rows->series->count; i++) {
		double before = row->values[i], after = row->values[i + lag];
		double difference = (after - before) / row->mean;

		if (is_sparse || before > 0 || after > 0)
			scratch[count++] =
				difference * difference / (variance_of(rows, row, i) + variance_of(rows, row, i + lag));
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
static void fit(struct tested_rows *rows, struct dispersion *dispersions, double freedom, double *scratch,
	struct moderation *moderation)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct tested_row *row = &rows->items[i];

		row->scale = noise_scale_of(rows, row, 1, scratch);
		if (row->function != HISTORY_WHOLE && row->is_self)
			dispersions[count++] = (struct dispersion){ row->scale * mean_variance(rows, row),
				fmax(mean_counting(rows, row), 1e-12) };
	}
	moderation_fit(dispersions, count, freedom, moderation);
}

/* ---- Dependence ---- */

/* Returns how much of a row's variance is not counting: 0 to 1. */
static double overdispersed_part(const struct tested_rows *rows, const struct tested_row *row)
{
	return rows->overdispersion > 0 ? rows->overdispersion / (rows->overdispersion + mean_counting(rows, row)) : 0;
}

/*
 * Noise that lasts longer than a profile makes neighbours more alike than others are: of a first order autoregression
 * with correlation r, differences of neighbours show 1 - r of the variance, those of every second profile 1 - r * r, so
 * that the second has 1 + r times the first. The variance of a mean is greater by (1 + r) / (1 - r) than that of
 * independent values. The median over functions, as few of them change at many profiles. Counts of samples are
 * independent, and functions that vary by little else say nothing of it. Needs each row's own scale.
 */
static void dependence_fill(struct tested_rows *rows, double *scratch)
{
	CLEANUP(cleanup_free) struct weighted_value *ratios = memory_alloc((rows->count + 1) * sizeof(*ratios));
	size_t count = 0;
	double correlation;

	for (size_t i = 0; rows->series->count >= MIN_DEPENDENT && i < rows->count; i++) {
		struct tested_row *row = &rows->items[i];
		double part = overdispersed_part(rows, row);

		if (row->scale > 0 && part > least_part)
			ratios[count++] =
				(struct weighted_value){ noise_scale_of(rows, row, 2, scratch) / row->scale, part };
	}
	if (count < MIN_CORRELATIONS)
		return;
	correlation = fmin(weighted_median(ratios, count) - 1, most_correlation);
	if (correlation < least_correlation)
		return;
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].dependence = 1 + ((1 + correlation) / pow(1 - correlation, 2) - 1) *
							overdispersed_part(rows, &rows->items[i]);
}

/* ---- All of it ---- */

static void assume(struct tested_rows *rows)
{
	rows->overdispersion = history_assumed_rsd * history_assumed_rsd;
	for (size_t i = 0; i < rows->count; i++) {
		rows->items[i].scale = 1;
		rows->items[i].freedom = INFINITY;
	}
}

void noise_fill(struct tested_rows *rows)
{
	size_t n = rows->series->count;
	double freedom = freedom_part * ((double)n - 1);
	CLEANUP(cleanup_free) struct dispersion *dispersions = memory_alloc((rows->count + 1) * sizeof(*dispersions));
	CLEANUP(cleanup_free) double *scratch = memory_alloc(n * sizeof(*scratch));
	struct moderation moderation;

	if (n < MIN_PROFILES) {
		assume(rows);
		return;
	}
	fit(rows, dispersions, freedom, scratch, &moderation);
	rows->overdispersion = moderation.overdispersion;
	/* Once more, with weights that know of it. */
	fit(rows, dispersions, freedom, scratch, &moderation);
	dependence_fill(rows, scratch);
	for (size_t i = 0; i < rows->count; i++) {
		struct tested_row *row = &rows->items[i];
		double expected = mean_variance(rows, row);
		struct dispersion own = { row->scale * expected, mean_counting(rows, row) };

		row->freedom = freedom;
		row->scale = row->function == HISTORY_WHOLE
				     ? fmax(own.variance, own.poisson) / expected
				     : moderation_posterior(&moderation, &own, freedom, &row->freedom) / expected;
	}
}
