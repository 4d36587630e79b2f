/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Runs that tell which layout of the program's code they ran (profile_run.layout): where the linker puts functions
 * moves their times, so that runs of one layout resemble each other, however many there are (Mytkowicz et al. 2009).
 * Layouts are random effects: what two sides have of them are draws from all that there are. The unit of replication is
 * the layout then, with the mean of its runs, and the degrees of freedom are those of layouts (the analysis of a nested
 * design by the means of its groups).
 */

/* Returns the layouts that the runs of a profile tell; 0: some run does not tell its own. */
size_t layouts_count(const struct profile *profile);

/* Returns whether layouts are the units of a comparison of runs: both sides have several. */
bool layouts_are_units(const struct diff_build *build);

/* Which layout each run is of, counted from 0, in the order of their numbers. */
struct layouts_division {
	size_t count;
	uint32_t *of_run; /* owned: [run] */
	size_t *runs;     /* owned: [layout] how many runs it has */
};

void layouts_divide(const struct profile *profile, struct layouts_division *division);
void layouts_division_deinit(struct layouts_division *division);

/*
 * Makes sums over the runs of each layout means over them, times the runs that a layout has on average, so that a
 * layout with fewer runs counts as any other.
 */
void layouts_level(const struct layouts_division *division, size_t row_count, double *values);

/* Returns the relative standard deviation of a row between the layouts of a side, pooled over both. */
double layouts_spread(const struct experiment *experiment, size_t row);

/* Fills diff.layouts and diff_function.layout_rsd, where layouts are units. */
void layouts_describe(const struct diff_build *build, const struct experiment *experiment);
