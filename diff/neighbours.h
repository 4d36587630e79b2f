/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/* Callers and callees of functions. */

/* The time of some functions that one function calls them for, or that they spend in one that they call. */
struct diff_neighbour {
	/* PROFILE_NONE: of callers, a thread begins with them; of callees, they themselves */
	uint32_t function;
	double raw[DIFF_SIDES];
	struct diff_estimate time; /* scaled */
};

struct diff_neighbour_list {
	struct diff_neighbour *rows; /* owned; the greatest first */
	size_t count;
};

/*
 * Each stack counts once: for the caller of the outermost frame of the functions, and for what the innermost one calls.
 * So callers add up to the functions' total, and so do callees with their own time. Interrupts are in neither.
 */
struct diff_neighbours {
	struct diff_neighbour_list callers, callees;
	double base, head; /* the total of the functions, scaled */
};

/*
 * Compares callers and callees of functions; `meant`: [function] which ones; `profiles`: those that the diff was made
 * of. All rows of callers are one family of tests at the diff's rate, and all rows of callees are another one.
 */
COMMON_MUST_CHECK
bool diff_neighbours_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const bool *meant, struct diff_neighbours **neighbours, struct error *err);
void diff_neighbours_destroy(struct diff_neighbours *neighbours);

static inline void diff_neighbours_cleanup(struct diff_neighbours **neighbours)
{
	diff_neighbours_destroy(*neighbours);
}
