/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The proven differences of a comparison's functions, summed up by direction: 1 is more, -1 is less. */

enum proven_way { PROVEN_LESS = -1, PROVEN_NEITHER = 0, PROVEN_MORE = 1 };

/* Returns the direction of a state; that of states which are no proven difference is PROVEN_NEITHER. */
enum proven_way proven_way_of(enum diff_state state);

/* Tells which languages' functions have names in the diff: what an interpreter of those does is theirs. */
void proven_named_languages(const struct diff *diff, bool is_named[static PROFILE_LANGUAGE_COUNT]);

/* All that is proven in one direction. */
struct proven_side {
	double points;  /* of disjoint subtrees, each with its net difference */
	size_t changes; /* number of the diff's changes, without those that are of others */
	/* the one with the largest difference */
	const struct diff_function *greatest;
	const struct diff_estimate *estimate; /* its estimate: self or total */
};

struct proven {
	struct proven_side more, less;
};

/*
 * Functions of least_decisive points or more in one direction, with less than half of that in the other, decide where
 * the total does not: two recordings of an unchanged program on a busy machine differ by some points in single
 * functions.
 */
extern const double proven_decisive_points;

/* Needs the states and the changes. */
struct proven proven_find(const struct diff_build *build);

/* Returns the direction in which the functions decide. */
enum proven_way proven_decide(const struct proven *proven);

static inline const struct proven_side *proven_side(const struct proven *proven, enum proven_way way)
{
	return way == PROVEN_LESS ? &proven->less : &proven->more;
}

/*
 * Returns the side that has the largest difference of a single function; one without a function if nothing is proven.
 */
const struct proven_side *proven_greater(const struct proven *proven);
