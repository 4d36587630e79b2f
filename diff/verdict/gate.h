/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

enum gate_outcome { GATE_PASSED, GATE_FAILED, GATE_UNDECIDED };

struct gate_result {
	enum gate_outcome outcome;    /* the worst of all gates */
	const struct diff_gate *gate; /* the one that failed or is undecided */
	uint32_t function;            /* what it failed on; PROFILE_NONE: the total */
	bool is_total;                /* the function with all it calls */
	double percent;               /* by how much, of base; infinite for a new function */
};

/*
 * Holds the diff against the gates. A gate fails when the increase is proven and its estimate is beyond the limit; it
 * is undecided when the interval reaches beyond the limit without proof.
 */
struct gate_result gate_evaluate(const struct diff_build *build);
