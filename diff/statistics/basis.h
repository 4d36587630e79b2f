/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"
#include "diff/statistics/experiment.h"
#include "diff/statistics/placement.h"

/*
 * The findings of the statistics about a comparison of the whole. It outlives the comparison, since a part of it, such
 * as the samples of one thread or groups of samples (diff_options.like), has the same load, machine and variation, and
 * too little time to show them by itself: a part that is estimated anew would be taken for unchanged where all of it
 * changed.
 */
struct basis {
	struct load load;
	bool work_is_usable;
	double sample_weight[DIFF_SIDES];
	double min_effect_points;
	enum profile_language language;
	size_t unit_count[DIFF_SIDES]; /* the units of replication */
	double *whole[DIFF_SIDES];     /* [unit] the whole, as experiment_whole() has it; owned */
	int64_t *run_ends[DIFF_SIDES]; /* [run] its length, as sums_run_lengths() has it; owned; NULL: no timeline */
	struct evidence_load load_change;
	struct evidence_factor factor;
	double *profile_factors[DIFF_SIDES]; /* [unit] as evidence_profile_factors() finds them; owned */
	struct diff_placement placement;
};

/* Returns the basis of a comparison: that of the whole, if this is a part of it. */
static inline const struct basis *basis_of(const struct diff *diff)
{
	return (diff->whole ? diff->whole : diff)->basis;
}

/* Returns the one to be filled; NULL: the comparison is a part, which has its whole's. */
static inline struct basis *basis_own(const struct diff_build *build)
{
	return build->diff->whole ? NULL : build->diff->basis;
}

/* Keeps the units and the values of the whole in them. */
void basis_keep_units(const struct diff_build *build, const struct experiment *experiment);

/* Makes the experiment's rows parts of the whole that `build` is a part of; nothing if it is none. */
void basis_apply(const struct diff_build *build, struct experiment *experiment);
