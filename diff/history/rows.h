/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/build.h"

/*
 * The values that are tested: of each function that is large enough for a change to matter its self time and its time
 * with all that it calls, and the whole where work was counted.
 *
 * Model of a value without a change: y_i = mean * (1 + e_i), with a variance of e_i of
 *	scale * (counting_i + overdispersion)
 * `counting_i` is what the profile's own error says, and falls with its length; `overdispersion` is what profiles
 * differ by beyond that, and `scale` by how much more or less a function varies than most: moderated variances, as
 * diff/probability/moderate.h has them. The scale is estimated from differences of profiles that follow each other (von
 * Neumann 1941), of which the largest fifth is left out, so that changes do not count as noise.
 */

/*
 * Assumed relative standard deviation of a function's time between profiles, and between starts of a program, where
 * too few of them show it: that of changed code between two processes (diff/statistics/floor.c).
 */
static const double history_assumed_rsd = 0.055;

struct tested_row {
	uint32_t function; /* HISTORY_WHOLE: the total */
	bool is_self;
	double *values; /* [profile] borrowed from the rows, scaled: percent of the typical total; of the whole as it is
			 */
	double mean;
	double counting; /* relative variance of a value by its profile's error, for a factor of 1 */
	double samples;  /* of all profiles, as far as the counting variance tells; INFINITY: it does not */
	double scale, freedom;
	/* Factor by which the mean of profiles varies more than if they were independent: machines have slow moods. */
	double dependence;
	double least_effect; /* that matters, in the unit of the values */
};

struct tested_rows {
	const struct history_series *series; /* borrowed */
	/* [profile] something is known to have begun with it: a deploy, or another process; borrowed */
	const bool *is_known;
	struct tested_row *items; /* owned; the whole first, where it is tested */
	size_t count;
	double *values; /* owned */
	double overdispersion;
};

void rows_fill(const struct history_build *build, const struct history_series *series, const bool *is_known,
	struct tested_rows *rows);
void rows_deinit(struct tested_rows *rows);

/*
 * Takes out of functions what they follow the machine's speed by, where work is counted: an analysis of covariance
 * (Fisher 1932), as diff/statistics/evidence_runs.c has it. Other programs and the processor's frequency change all
 * functions alike, each in its own measure. The total stays as it is.
 */
void speed_remove(const struct history_build *build, struct tested_rows *rows);

/* Returns the end of the stretch that begins at a profile: the next one with which something is known to have begun. */
static inline size_t rows_stretch_end(const struct tested_rows *rows, size_t from)
{
	size_t to = from + 1;

	while (to < rows->series->count && !rows->is_known[to])
		to++;
	return to;
}

/* Fills scale, freedom and dependence of all rows, and overdispersion. */
void noise_fill(struct tested_rows *rows);

/* Returns the weight of a row's value: the inverse of its variance, for a scale and a mean of 1. */
double noise_weight(const struct tested_rows *rows, const struct tested_row *row, size_t profile);
