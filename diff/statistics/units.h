/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

enum {
	UNITS_MIN_RUNS = 3,
	UNITS_MIN_BLOCKS = 20,
	UNITS_MAX_BLOCKS = 40,
};

/* Whether both sides have the runs that evidence of runs takes. */
static inline bool units_have_runs(const struct diff_build *build)
{
	return build->profiles[DIFF_BASE]->run_count >= UNITS_MIN_RUNS &&
	       build->profiles[DIFF_HEAD]->run_count >= UNITS_MIN_RUNS;
}

/* Blocks that a side's timeline can be cut into, each of 250 ms or longer; 0: too short, or there is none. */
size_t units_blocks(const struct profile *profile);

/*
 * Chooses the rows that are worth a test and sums them up in every unit of both sides, by the mode of evidence that has
 * been chosen: runs (RUNS), blocks of time (SINGLE), or the whole recording as one unit (COUNTS). A row is worth it
 * when both sides together hold enough samples and enough time for a difference of the least effect that matters.
 */
COMMON_MUST_CHECK
bool units_create(const struct diff_build *build, struct experiment *experiment, struct error *err);
