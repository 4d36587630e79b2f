/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

enum gate_outcome { GATE_PASSED, GATE_FAILED, GATE_UNDECIDED };

struct gate_result {
	enum gate_outcome outcome;    /* worst outcome of all gates */
	const struct diff_gate *gate; /* the gate that failed or is undecided */
	uint32_t function;            /* function that exceeds the limit; PROFILE_NONE: the total */
	bool is_total;                /* the function's total time exceeds it, not its self time */
	double percent;               /* the growth in percent of base; infinite for a new function */
};

/*
 * Judges the diff by the gates. A gate fails if the increase is proven and its estimate exceeds the limit; it is
 * undecided if the interval reaches beyond the limit without proof.
 */
struct gate_result gate_evaluate(const struct diff_build *build);
