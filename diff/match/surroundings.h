/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * The places of functions: from whom each is called, and what it calls, in shares of its time there. They do not depend
 * on how much time a function takes, since that is what a comparison asks.
 */
struct surroundings_edge {
	uint32_t neighbour; /* function of the diff, before any redirect; PROFILE_NONE: the root */
	double share;       /* of the function's time as this caller's callee; of all callees' time */
};

struct match_surroundings {
	struct surroundings_edge *edges[DIFF_SIDES]; /* owned; by function, then callers before callees */
	/* owned: [2 * function] its first caller, [2 * function + 1] its first callee, then one behind the last edge */
	uint32_t *first[DIFF_SIDES];
	double *self[DIFF_SIDES];  /* owned: [function] raw time, as `total` */
	double *total[DIFF_SIDES]; /* where the function is topmost in a stack or not */
	double *spread; /* owned: [function] of base's callers or callees: the sum of sqrt(p (1 - p)) of their shares */
	double *marks;  /* owned: [label] zero between calls */
};

/* How alike the places of two functions are. */
struct likeness {
	double callers, callees; /* what both have in common, in parts of 1; 1 if neither calls anything */
	double noise;            /* the error of either that counting noise alone makes */
	bool is_substantial;     /* both have enough samples that their shares mean something, or it is not known */
	bool calls_much;         /* both spend most of their time in callees */
};

/* Finds the places of the functions that `wanted` marks, on the sides that have them. Needs the trees. */
void surroundings_find(const struct diff_build *build, const bool *wanted, struct match_surroundings *around);
void surroundings_deinit(struct match_surroundings *around);

/*
 * Compares base's function with head's. labels: [function] what counts as the same neighbour, less than the number of
 * labels that surroundings_find() has marks for: twice the number of functions.
 */
struct likeness surroundings_compare(const struct diff_build *build, const struct match_surroundings *around,
	const uint32_t *labels, uint32_t base, uint32_t head);

/* Returns the larger share that one callee has of all callees' time, of either function. */
double surroundings_largest_callee(const struct match_surroundings *around, uint32_t base, uint32_t head);
