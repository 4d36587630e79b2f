/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Sums up an experiment's rows in every unit of one side: runs (RUNS, EXACT), blocks of time (SINGLE), processes
 * (workers.h), or the whole recording as one unit (COUNTS). Values are multiples of a power of two that makes every sum
 * exact. So sums do not depend on the order of the samples, and rows of the same samples are equal to the last bit.
 */

/* The rows of each function and node; made once for both sides. */
struct row_index;

void row_index_create(const struct diff *diff, const struct experiment *experiment, struct row_index **index);
void row_index_cleanup(struct row_index **index);

/* The division of a side's samples into units. */
struct sums_division {
	size_t units;
	bool by_time;              /* into blocks of time, of equal length */
	const uint32_t *of_thread; /* else [thread] its unit, or `units`: it is in none; NULL: all is one unit */
};

/*
 * Sums up the values of each row in each unit: values[row * units + unit], on the heap, with room for another row that
 * is of no use.
 */
void sums_fill(const struct diff_build *build, const struct row_index *index, enum diff_side side,
	const struct sums_division *division, size_t row_count, double **values);

/*
 * Returns the length of each run of a profile with a timeline: its recorded duration, or the time of its last event if
 * that is later. On the heap.
 */
int64_t *sums_run_lengths(const struct profile *profile);

/* Returns the same of a side of a comparison: in a part, a run is as long as in the whole. */
int64_t *sums_lengths_of_runs(const struct diff_build *build, enum diff_side side);

/* Returns the sum of the runs' lengths. */
int64_t sums_length(const struct profile *profile, const int64_t *lengths);
