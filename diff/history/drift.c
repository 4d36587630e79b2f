/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/changes.h"

#include <math.h>

/* Fewer profiles cannot tell a slope from a step. */
enum { MIN_PROFILES = 8 };

/* A step at a deploy is more likely by this than one at any other profile. */
static const double deploy_odds = 10;

/* Returns the criterion of Schwarz (1978): less is better. */
static double criterion(double squares, size_t count, double parameters)
{
	double n = (double)count;

	return n * log(fmax(squares / n, 1e-24)) + parameters * log(n);
}

/* Returns the weighted squares about the means between points. */
static double squares_of_steps(
	const struct tested_rows *rows, const struct tested_row *row, const size_t *ats, size_t count)
{
	double squares = 0;

	for (size_t s = 0; s <= count; s++) {
		size_t from = s == 0 ? 0 : ats[s - 1], to = s == count ? rows->series->count : ats[s];
		double weights = 0, values = 0;

		for (size_t i = from; i < to; i++) {
			weights += noise_weight(rows, row, i);
			values += noise_weight(rows, row, i) * row->values[i];
		}
		for (size_t i = from; i < to; i++)
			squares += noise_weight(rows, row, i) * pow(row->values[i] - values / weights, 2);
	}
	return squares;
}

/* Returns the sum of squares about a straight line over the profiles' order. */
static double squares_of_line(const struct tested_rows *rows, const struct tested_row *row, double *first, double *last)
{
	size_t n = rows->series->count;
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, squares = 0, slope, start;

	for (size_t i = 0; i < n; i++) {
		double weight = noise_weight(rows, row, i), at = (double)i;

		w += weight;
		x += weight * at;
		y += weight * row->values[i];
		xx += weight * at * at;
		xy += weight * at * row->values[i];
	}
	slope = (w * xy - x * y) / (w * xx - x * x);
	start = (y - slope * x) / w;
	for (size_t i = 0; i < n; i++)
		squares += noise_weight(rows, row, i) * pow(row->values[i] - start - slope * (double)i, 2);
	*first = start;
	*last = start + slope * (double)(n - 1);
	return squares;
}

/*
 * Returns the sum of squares about a walk whose steps are all there is: each profile begins where the one before it
 * ended.
 */
static double squares_of_walk(const struct tested_rows *rows, const struct tested_row *row)
{
	size_t n = rows->series->count;
	double squares = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		double weight = 2 / (1 / noise_weight(rows, row, i) + 1 / noise_weight(rows, row, i + 1));

		squares += weight * pow(row->values[i + 1] - row->values[i], 2);
	}
	return squares * (double)n / (double)(n - 1);
}

bool drift_explains(const struct tested_rows *rows, const struct tested_row *row, const size_t *ats, size_t count,
	size_t found, struct history_drift *drift)
{
	size_t n = rows->series->count;
	double steps, line, walk;

	if (n < MIN_PROFILES || count == 0)
		return false;
	/* A mean for each stretch, and a place for each point that was looked for; a deploy is a reason for a step. */
	steps = criterion(squares_of_steps(rows, row, ats, count), n, (double)(count + 1 + found)) -
		(double)(count - found) * 2 * log(deploy_odds);
	line = criterion(squares_of_line(rows, row, &drift->first, &drift->last), n, 2);
	walk = criterion(squares_of_walk(rows, row), n, 1);
	drift->function = row->function;
	return fmin(line, walk) < steps;
}
