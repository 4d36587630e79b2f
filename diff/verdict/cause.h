/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"

/*
 * The function that a verdict names. The model, on the union tree and in the verdict's direction:
 *
 * What is proven of a function's self time lies at the nodes where it was measured. A function explains what lies in
 * the subtrees of its topmost nodes, or its own proven difference of total time if that is larger: the self time of
 * many callees may be proven in their sum only. The whole is the larger of two: the proven difference of the program,
 * and the sum over the tree of what is proven, in which functions in different places add up. Differences in the other
 * direction are not subtracted, so that a function that grew while its old callees vanished explains its growth.
 *
 * The cause is the deepest function that explains half of the whole or more, and is itself proven in that direction:
 * its total is, or its own code where it has half itself or where the whole program is proven to differ.
 * Functions of the user's code, compiled at run time and interpreted ones among them, go before those of libraries, and
 * these before the system's: a frame of the C library is named only where no proven caller explains as much. Garbage
 * collection counts as a library's: it says more than the function of the run time that does most of it. Three are
 * never the cause: code without a name, the frames of an interpreter and of waits, and the run time's entry (_start).
 * A function in which the program is all the time says nothing of where the change is. It is the cause only if the time
 * is its own, or if half of the difference is in one leaf below it; the top of the user's code, such as main(), goes
 * behind the functions of libraries then.
 */

enum { CAUSE_SPREAD = 3 };

struct cause_share {
	uint32_t function;
	double share; /* of the whole */
};

struct cause {
	enum proven_way way;
	bool is_known;           /* something is proven of functions in the direction */
	struct diff_cause named; /* `function` is PROFILE_NONE if no function explains half */
	double leaf_share;       /* the leaf's share of the difference of the named function */
	/* the named function is the system's, and functions without names call it: debug symbols would name those */
	bool has_nameless_callers;
	/*
	 * without a name: the functions of the user's code, else of libraries or the system, in whose own code, or in
	 * what they call of others, most of the whole lies; the largest first
	 */
	struct cause_share spread[CAUSE_SPREAD];
	size_t spread_count;
};

/* Finds the cause in a direction; without one nothing is named. Needs the states. */
void cause_find(const struct diff_build *build, enum proven_way way, struct cause *cause);

/*
 * Finds where most of what is measured of the total's difference is, proven or not. Where it is proven that the total
 * differs, but of no function, this is where to look first.
 */
void cause_find_measured(const struct diff_build *build, struct cause *cause);

/* Returns the value that stands for no cause. */
struct diff_cause cause_none(void);

/*
 * Returns the estimate that shows the size of a cause: its total, or its self time where that explains it and is proven
 * alone.
 */
const struct diff_estimate *cause_estimate(
	const struct diff *diff, const struct diff_cause *cause, enum proven_way way);

/* Puts the functions' final ids in place. new_ids: [function] */
void cause_reorder(struct diff_cause *cause, const uint32_t *new_ids);
