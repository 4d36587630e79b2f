/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/commits/trace.h"

/* The nearness of the lines that each commit changed in a function to those whose time has changed. */

struct blame_part {
	size_t commit;
	double nearness; /* 1: it changed all the lines whose time has changed; towards 0: it is far from all of them */
};

struct blame {
	const struct repository_history *history; /* borrowed */
	struct line_times times[DIFF_SIDES];
	struct trace traces[DIFF_SIDES];
	/*
	 * Owned: [function] what a function of one side alone is called on the other side: the one that has most of its
	 * lines; PROFILE_NONE.
	 */
	uint32_t *partners;
	double *weights;  /* owned: [commit] 1: it changed one sampled function alone; less, the more it changed */
	bool is_increase; /* set by the caller before each function: which changes of time are looked for */
	struct blame_part *parts; /* owned: of the function at hand, each commit once */
	size_t part_count, part_capacity;
};

COMMON_MUST_CHECK
bool blame_init(struct blame *blame, const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const struct commits_sources *sources, struct error *err);
void blame_deinit(struct blame *blame);

/* Fills the parts; none: no commit changed the function. */
COMMON_MUST_CHECK
bool blame_function(struct blame *blame, uint32_t function, struct error *err);

/* Returns whether a commit touched a sampled function of either side. */
bool blame_is_executed(const struct blame *blame, size_t commit);

/* Returns whether a commit changed the function. */
bool blame_is_changed(const struct blame *blame, uint32_t function);
