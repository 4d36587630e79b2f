/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

enum {
	UNITS_MIN_RUNS = 2,
	UNITS_MIN_BLOCKS = 20,
	UNITS_MAX_BLOCKS = 40,
};

/* Returns whether both sides have enough runs for evidence of runs. */
static inline bool units_have_runs(const struct diff_build *build)
{
	return build->profiles[DIFF_BASE]->run_count >= UNITS_MIN_RUNS &&
	       build->profiles[DIFF_HEAD]->run_count >= UNITS_MIN_RUNS;
}

/*
 * Returns the number of blocks, each of 250 ms or longer, into which a side's timeline can be cut; 0: it is too short,
 * or there is none.
 */
size_t units_blocks(const struct profile *profile);

/*
 * Chooses the rows to test and sums them up in every unit of both sides, by the mode of evidence that has been chosen:
 * runs (RUNS, EXACT), blocks of time (SINGLE), or the whole recording as one unit (COUNTS). A row is tested if both
 * sides together have enough samples and enough time for a difference of the least effect that matters.
 */
void units_create(const struct diff_build *build, struct experiment *experiment);
