/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"

/*
 * A difference that runs show, but of functions whose code is the same: where the linker put them explains it
 * (statistics/placement.h). If nothing else is proven, and all code that ran is the same, the verdict is of the
 * placement; where other code ran too, none is possible with one layout a side.
 */

/* Returns whether placed functions have most of a difference of the whole that runs alone would prove. */
bool placed_is_reason(const struct diff_build *build, const struct proven *proven);

/* Says "same code, and head takes 20.1 % more CPU time per run (...) here; ...". Sets the verdict. */
void placed_decide(struct diff_build *build);
