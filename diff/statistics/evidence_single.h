/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/* What one recording a side cannot show: relative standard deviations between processes. */
struct process_floor {
	double changed; /* of functions whose code differs; refined by those whose code does not */
	double by_tier; /* of rows that go by tier; 0: there are none */
	double others;
};

/*
 * Tests every row with blocks of time as units: the row's time over the blocks' (as_share) or by itself, variance by
 * the delete-one jackknife (Efron and Stein 1981), never less than counting gives, plus the floor between processes.
 * With one unit a side the variance is that of counting. Fills results[row], and refines floor->changed unless it is 0.
 */
COMMON_MUST_CHECK
bool evidence_single(const struct experiment *experiment, bool as_share, struct process_floor *floor,
	struct row_result *results, struct error *err);
