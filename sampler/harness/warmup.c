/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/warmup.h"

#include <math.h>
#include <stdlib.h>

enum {
	BATCH = 5,          /* of MSER-5 */
	LEAST_ROUNDS = 20,  /* for a warm-up */
	LEAST_BATCHES = 10, /* of batch means */
	MOST_BATCHES = 30,
	FEWEST_BATCHES = 4, /* where there are fewer rounds: a rough error is better than one that is too small */
};
static const double least_errors = 3;       /* between what is warm-up and what is not */
static const double error_of_median = 1.25; /* against that of the mean, of normal times */

static double harness_warmup_mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count > 0 ? sum / (double)count : 0;
}

static double harness_warmup_squares_of(const double *values, size_t count, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

static double stdev_of(const double *values, size_t count, double mean)
{
	return count > 1 ? sqrt(harness_warmup_squares_of(values, count, mean) / (double)(count - 1)) : 0;
}

static double batch_mean(const double *times, size_t batch, size_t batch_rounds)
{
	return harness_warmup_mean_of(times + batch * batch_rounds, batch_rounds);
}

/*
 * The place with the least sum of squares over the squared number of those that are left, from the end on: sums grow by
 * one batch a step (Welford).
 */
static size_t least_error_at(const double *times, size_t batches)
{
	double mean = 0, squares = 0, least = INFINITY;
	size_t best = 0;

	for (size_t i = batches; i-- > 0;) {
		double value = batch_mean(times, i, BATCH), left = (double)(batches - i);
		double difference = value - mean;

		mean += difference / left;
		squares += difference * (value - mean);
		/* Equal ones: the shorter warm-up. */
		if (i <= batches / 2 && squares / (left * left) <= least) {
			least = squares / (left * left);
			best = i;
		}
	}
	return best;
}

/* Batches whose number grows with the root of the number of times, as their length does. */
static double error_of_mean(const double *times, size_t count, double mean, size_t least_batches)
{
	double independent = count > 0 ? stdev_of(times, count, mean) / sqrt((double)count) : 0;
	double squares = 0, of_batches;
	size_t batches = (size_t)sqrt((double)count), batch_rounds;

	if (batches < least_batches)
		return independent;
	if (batches > MOST_BATCHES)
		batches = MOST_BATCHES;
	batch_rounds = count / batches;
	for (size_t i = 0; i < batches; i++) {
		double difference = batch_mean(times, i, batch_rounds) - mean;

		squares += difference * difference;
	}
	of_batches = sqrt(squares / (double)(batches - 1) / (double)batches);
	return of_batches > independent ? of_batches : independent;
}

static int harness_warmup_compare_times(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return ORDER(left, right);
}

void warmup_sort(double *times, size_t count)
{
	qsort(times, count, sizeof(*times), harness_warmup_compare_times);
}

double warmup_quantile(const double *sorted, size_t count, double quantile)
{
	double at = quantile * (double)(count > 0 ? count - 1 : 0);
	size_t below = (size_t)at;

	if (count == 0)
		return 0;
	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static double median_of(const double *times, size_t count, double *scratch)
{
	memcpy(scratch, times, count * sizeof(*times));
	warmup_sort(scratch, count);
	return warmup_quantile(scratch, count, 0.5);
}

/*
 * Returns whether the first rounds are slower than the others, by more than the noise. That is the others': what warms
 * up changes. Medians are compared, so that a round that was interrupted makes no warm-up.
 */
static bool is_slower(const double *times, size_t warm, size_t count, double *scratch)
{
	size_t rest = count - warm;
	double mean = harness_warmup_mean_of(times + warm, rest);
	double noise = error_of_mean(times + warm, rest, mean, FEWEST_BATCHES) * sqrt((double)rest);

	return median_of(times, warm, scratch) - median_of(times + warm, rest, scratch) >
	       least_errors * error_of_median * noise * sqrt(1 / (double)warm + 1 / (double)rest);
}

size_t warmup_count(const double *times, size_t count, double *scratch)
{
	size_t warm;

	if (count < LEAST_ROUNDS)
		return 0;
	warm = least_error_at(times, count / BATCH) * BATCH;
	return warm > 0 && is_slower(times, warm, count, scratch) ? warm : 0;
}

bool warmup_measure(const double *times, size_t count, struct profile_measured *measured, struct error *err)
{
	CLEANUP(cleanup_free) double *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted)
		return error_set_memory(err);
	if (count > 0)
		memcpy(sorted, times, count * sizeof(*sorted));
	warmup_sort(sorted, count);
	measured->quartile_ns = warmup_quantile(sorted, count, 0.25);
	measured->median_ns = warmup_quantile(sorted, count, 0.5);
	measured->mean_ns = harness_warmup_mean_of(times, count);
	measured->stdev_ns = stdev_of(times, count, measured->mean_ns);
	measured->error_ns = error_of_mean(times, count, measured->mean_ns, LEAST_BATCHES);
	return true;
}
