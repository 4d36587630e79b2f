/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/* Relative standard deviations between processes, which one recording on each side cannot show. */
struct process_floor {
	double changed;         /* of functions whose code changed; refined by those whose code did not */
	double changed_freedom; /* degrees of freedom of that estimate; INFINITY: it is assumed */
	double by_tier;         /* of rows that depend on the tier of compiled code; 0: there are none */
	double compiled;        /* of these, beyond what a run-time compiler may have moved (modes.h) */
	double speed;           /* of all functions alike; 0: the scale divides it out */
	double waits;           /* of waiting time */
	double others;
	double whole; /* of all together, as evidence_single() found it; in a part, of the whole that it is a part of */
};

/*
 * Tests every row with blocks of time as units. The value is the row's time, or its share of the block's time
 * (as_share); the variance is that of the delete-one jackknife (Efron and Stein 1981), at least that of counting, plus
 * the floor between processes. With one unit on each side the variance is that of counting. Fills results[row]; refines
 * floor->changed and its freedom unless it is 0, or the experiment is of a part, whose whole's it then is.
 */
void evidence_single(
	const struct experiment *experiment, bool as_share, struct process_floor *floor, struct row_result *results);
