/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Sums up an experiment's rows in every unit of one side: runs (RUNS, EXACT), blocks of time (SINGLE), or the whole
 * recording as one unit (COUNTS). Values are multiples of a power of two that makes every sum exact. So sums do not
 * depend on the order of the samples, and rows of the same samples are equal to the last bit.
 */

/* The rows of each function and node; made once for both sides. */
struct row_index;

COMMON_MUST_CHECK
bool row_index_create(
	const struct diff *diff, const struct experiment *experiment, struct row_index **index, struct error *err);
void row_index_destroy(struct row_index *index);

static inline void row_index_cleanup(struct row_index **index)
{
	row_index_destroy(*index);
}

/* Fills unit_count and values of the side; `unit_count` is the number for the mode of evidence (units.h). */
COMMON_MUST_CHECK
bool sums_fill(const struct diff_build *build, const struct row_index *index, enum diff_side side, size_t unit_count,
	struct experiment *experiment, struct error *err);

/*
 * The length of each run of a profile with a timeline: its recorded duration, or the time of its last event if that is
 * later. On the heap; NULL: out of memory.
 */
int64_t *sums_run_lengths(const struct profile *profile);

/* The sum of the runs' lengths. */
int64_t sums_length(const struct profile *profile, const int64_t *lengths);
