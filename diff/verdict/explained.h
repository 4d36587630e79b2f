/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"

/*
 * The part of what is proven in one direction that each function explains, and where in the call tree it lies. The
 * model is that of cause.h.
 */

/* The owner of a function's code, in the order in which causes are preferred. */
enum explained_kind {
	EXPLAINED_USER,
	EXPLAINED_LIBRARY,
	EXPLAINED_SYSTEM,
	EXPLAINED_KINDS,
	EXPLAINED_NEVER = EXPLAINED_KINDS
};

struct explained {
	const struct diff_build *build;
	const struct diff *diff;
	int way;                   /* enum proven_way */
	bool is_measured;          /* what is measured counts as proven: where the change is, if there is one */
	double whole;              /* all that is proven in the direction */
	bool is_known;             /* something is proven of functions */
	double *below;             /* [node] proven self time in the direction, in the node's subtree; owned */
	double *explained;         /* [function] what lies below its topmost nodes, or its total; owned */
	double *depth;             /* [function] mean depth of its topmost nodes, by what is below them; owned */
	double *scratch;           /* [function] for sums of the user of this; owned */
	enum explained_kind *kind; /* [function] owned */
	bool *is_under_user;       /* [function] whether a function of the user's code is above it; owned */
	/* [node] the nearest function at or above it: of the user's code, else of a library; PROFILE_NONE; owned */
	uint32_t *responsible;
	uint32_t *caller; /* [node] the nearest one at or above it that a chain of callers may name; owned */
};

/* Returns the kind of a function. `is_interpreter`: it interprets a language whose functions have names. */
enum explained_kind explained_kind_of(
	const struct diff *diff, const struct diff_function *function, bool is_interpreter);

/* Fills `e`, whose `build`, `diff` and `way` are set. Needs the states. On failure it may only be freed. */
void explained_init(struct explained *e);
void explained_deinit(struct explained *e);

/* Returns a difference as a value that is positive in the direction. */
double explained_in_direction(const struct explained *e, double delta);

/* Returns whether an estimate is proven to differ in the direction. */
bool explained_is_proven(const struct explained *e, const struct diff_estimate *estimate);

/* Returns the proven self time at a node, in the direction. */
double explained_own(const struct explained *e, uint32_t node);

/*
 * Returns how much more of the direction head has than base in a subtree: what is proven there, or the net difference.
 */
double explained_weight(const struct explained *e, uint32_t node);

/* Returns whether no ancestor of the node is of its function, and it is no interrupt. */
bool explained_is_topmost(const struct explained *e, uint32_t node);

/* Returns whether code has no name that says anything: that of an address, or of a stub. */
bool explained_has_no_name(const struct diff *diff, const struct diff_function *function);

/* Returns whether the program is in a function nearly all the time on both sides. */
bool explained_is_whole(const struct diff *diff, const struct diff_estimate *total);
