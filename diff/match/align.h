/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Builds the diff's function table from the functions that occur in either side's tree, by key; fills function_ids,
 * redirect, present. What has no partner by key is then matched where it is unambiguous: modules whose file is called
 * otherwise on the other side are recognised by the names that they share (canonical), then equal file name and
 * function name (file and name).
 */
COMMON_MUST_CHECK
bool align_functions(struct diff_build *build, struct error *err);

/* Base's function `base` and head's function `head`, both one-sided, are one from now on; head's entry stays. */
void align_merge(struct diff_build *build, uint32_t base, uint32_t head, enum diff_tier tier);

/* Whether `function` stands for itself and occurs on `side` only. */
static inline bool align_only_on(const struct diff_build *build, uint32_t function, enum diff_side side)
{
	return build->redirect[function] == function && build->present[side][function] &&
	       !build->present[!side][function];
}
