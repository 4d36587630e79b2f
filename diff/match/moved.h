/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds functions that were renamed: one is gone and one is new, under the same callers, whose total time is flat, with
 * about the same time and the same callees (for leaves: a similar name). Merges each pair (DIFF_TIER_PLACE). `*moved`
 * counts the pairs; if there are any, the union tree must be built again. Needs the union tree, its sums and the robust
 * factor.
 */
COMMON_MUST_CHECK
bool moved_match(struct diff_build *build, size_t *moved, struct error *err);

/*
 * Finds time that only changed its frame: a function is gone and its caller's self time grew by as much (inlined), or
 * the other way round (outlined, split), while the caller's total is flat. Links the two by moved_to and gives both,
 * and their nodes, the state MOVED. Needs the states.
 */
void moved_link(struct diff_build *build);
