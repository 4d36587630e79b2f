/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Builds the diff's function table from the functions in either side's tree, by key; fills function_ids, redirect and
 * present. Functions without a partner by key are then matched if that is unambiguous: first in modules whose files
 * have different names on the sides and that are recognised by shared function names (canonical), then by equal file
 * name and function name (file and name).
 */
COMMON_MUST_CHECK
bool align_functions(struct diff_build *build, struct error *err);

/* Merges base's function `base` and head's function `head`, each one-sided, into head's entry. */
void align_merge(struct diff_build *build, uint32_t base, uint32_t head, enum diff_tier tier);

/* Returns whether `function` was not merged into another one and occurs on `side` only. */
static inline bool align_only_on(const struct diff_build *build, uint32_t function, enum diff_side side)
{
	return build->redirect[function] == function && build->present[side][function] &&
	       !build->present[!side][function];
}
