/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/probability/signed_rank.h"

#include "diff/probability/tails.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SUM = SIGNED_RANK_MOST * (SIGNED_RANK_MOST + 1) / 2 };

static int signed_rank_by_size(const void *left, const void *right)
{
	double a = fabs(*(const double *)left), b = fabs(*(const double *)right);

	return (a > b) - (a < b);
}

static int signed_rank_by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Returns the sum of the ranks of positive values. */
static double rank_sum(const double *values, size_t count)
{
	double sum = 0;

	for (size_t first = 0, end; first < count; first = end) {
		double positive = 0;

		for (end = first; end < count && fabs(values[end]) == fabs(values[first]); end++)
			positive += values[end] > 0 ? 1 : values[end] < 0 ? 0 : 0.5;
		sum += positive * (double)(first + 1 + end) / 2;
	}
	return sum;
}

/*
 * Fills, for each [sum], the probability of a sum of ranks, where each of `count` ranks is in it with probability one
 * half.
 */
static void fill_probabilities(size_t count, double *probabilities)
{
	size_t sums = count * (count + 1) / 2;

	probabilities[0] = 1;
	for (size_t sum = 1; sum <= sums; sum++)
		probabilities[sum] = 0;
	for (size_t rank = 1; rank <= count; rank++)
		for (size_t sum = rank * (rank + 1) / 2 + 1; sum-- > 0;)
			probabilities[sum] = (probabilities[sum] + (sum >= rank ? probabilities[sum - rank] : 0)) / 2;
}

/* Means of all pairs of values, and of each with itself (Walsh averages), in order. */
static size_t fill_means(const double *values, size_t count, double *means)
{
	size_t filled = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			means[filled++] = (values[i] + values[j]) / 2;
	qsort(means, filled, sizeof(*means), signed_rank_by_value);
	return filled;
}

struct signed_rank signed_rank_of(double *values, size_t count)
{
	double buffer[MOST_SUM + 1], sum, tail = 0;
	size_t sums = count * (count + 1) / 2, least, outside = 0;
	struct signed_rank result;

	qsort(values, count, sizeof(*values), signed_rank_by_size);
	sum = rank_sum(values, count);
	fill_probabilities(count, buffer);
	least = (size_t)floor(fmin(sum, (double)sums - sum) + 0.5);
	for (size_t i = 0; i <= least; i++)
		tail += buffer[i];
	result.p = fmin(1, 2 * tail);
	/* So many of the means at each end are outside of the interval. */
	for (tail = buffer[0]; tail <= tail_of_interval; tail += buffer[++outside])
		;
	sums = fill_means(values, count, buffer);
	outside = outside > 0 ? outside - 1 : 0;
	result.low = buffer[outside];
	result.high = buffer[sums - 1 - outside];
	return result;
}
