/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Builds the diff's function table from the functions in either side's tree, by key; fills function_ids, redirect and
 * present. Where a key has a number that a compiler may give another function in another build, each side has a
 * function of its own, which renumber_match() matches. Recognises modules whose files have different names on the sides
 * by the names of functions that they share (build->module_of).
 */
void align_functions(struct diff_build *build);

/* Fills the names of the functions as people read them, once it is known which ones are one. */
void align_show(struct diff_build *build);

/* Merges base's function `base` and head's function `head`, each one-sided, into head's entry. */
void align_merge(struct diff_build *build, uint32_t base, uint32_t head, enum diff_tier tier);

struct match_surroundings;

/*
 * Adds a function to the group that head's function `into` stands for, which it may be itself (DIFF_TIER_GROUP); both
 * are one-sided. `around` has its times.
 */
void align_add_to_group(struct diff_build *build, enum diff_side side, uint32_t function, uint32_t into,
	const struct match_surroundings *around);

/* Notes that a function of a side is a part of `into`, which has another key. */
void align_add_member(struct diff_build *build, enum diff_side side, uint32_t function, uint32_t into,
	const struct match_surroundings *around);

/* Names a group right after its members were added, all of them: "WORDS (16 and 17 functions)". */
void align_name_group(struct diff_build *build, uint32_t group, const char *words);

/* Returns whether a function is in the finished diff: as itself, or as the earlier name of a renamed one. */
static inline bool align_stays(const struct diff_build *build, uint32_t function)
{
	uint32_t into = build->redirect[function];

	return into == function || diff_tier_is_rename(build->diff->functions[into].tier);
}

/* Returns whether `function` was not merged into another one and occurs on `side` only. */
static inline bool align_only_on(const struct diff_build *build, uint32_t function, enum diff_side side)
{
	return build->redirect[function] == function && build->present[side][function] &&
	       !build->present[!side][function];
}
