/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/commits/commits.h"

/* Lines of functions: where they begin and end, and how much time was spent at each. */

/* The time of a line with all that was called from it, in scaled units of the metric. */
struct line_time {
	uint32_t function, line;
	double total;
};

/* Lines elsewhere in the file that are code of a function: the definition of a macro that its line `own_line` names. */
struct line_use {
	uint32_t first, last, own_line;
};

/* The place of a function on one side. */
struct line_range {
	const char *path;      /* borrowed: in the repository; NULL: it is not there */
	uint32_t definition;   /* 0: not known */
	uint32_t first, last;  /* of the sampled lines; of the whole function, once line_times_bound() has found it */
	struct line_use *uses; /* owned; likewise */
	size_t use_count, use_capacity;
};

struct line_times {
	struct line_time *times; /* owned; by function, then by line */
	size_t count;
	struct line_range *ranges; /* owned: [function of the diff]; `last` 0: it has no lines */
	size_t range_count;
};

/* Adds up the samples of one side. */
void line_times_sum(const struct diff *diff, enum diff_side side, const struct profile *profile,
	const struct commits_sources *sources, struct line_times *times);
void line_times_deinit(struct line_times *times);

/* Makes the ranges those of whole functions, by the texts; without one, up to the next function that is known. */
COMMON_MUST_CHECK
bool line_times_bound(const struct diff *diff, enum diff_side side, const struct commits_sources *sources,
	struct line_times *times, struct error *err);

/* Returns the times of a function. */
const struct line_time *line_times_of(const struct line_times *times, uint32_t function, size_t *count);
