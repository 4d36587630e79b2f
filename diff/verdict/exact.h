/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The sentences of a verdict on exact counts (diff.is_exact). All fill verdict_text. */

/*
 * Appends what a function does more or less of: "parse itself executes 12.0 % more instructions (exact); its code
 * changed: 1.1 % of all instructions, after 1.0 % in base; head as a whole executes 0.120 % more instructions (exact)".
 * `estimate` is the function's self or total; `others` are as many functions that changed themselves, too.
 */
COMMON_MUST_CHECK
bool exact_say_function(struct diff_build *build, const struct diff_function *function,
	const struct diff_estimate *estimate, size_t others, struct error *err);

/*
 * Puts before the sentence about the total which function changed most, if it changed in the same direction; NULL:
 * none.
 */
COMMON_MUST_CHECK
bool exact_explain_total(struct diff_build *build, const struct diff_function *function,
	const struct diff_estimate *estimate, struct error *err);

/*
 * Decides where no function is proven to differ, and fills the verdict: unchanged, unless runs of one program may
 * differ by more than `tolerated`, in scaled units.
 */
void exact_decide_unproven(struct diff_build *build, double tolerated);

/* Returns what is said of the total behind changes of functions: "; the total is the same". */
const char *exact_and_the_total(const struct diff *diff);
