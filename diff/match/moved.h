/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds functions that were renamed: one is gone and one is new at the same place, with the same callers and the same
 * callees in the same shares, and no other one is as good. How much time they take is no evidence, but where little
 * else tells: of functions that call nothing or one function only, the times must be the same, and of those that call
 * nothing the names similar. Merges each pair (DIFF_TIER_PLACE). `*moved` counts the pairs; if there are any, the union
 * tree must be built again. Needs the trees, the union tree, its sums and the robust factor.
 */
void moved_match(struct diff_build *build, size_t *moved);

/*
 * Finds time that only changed its frame: a function is gone and its caller's self time grew by as much (inlined), or
 * the other way round (outlined, split), while the caller's total is flat. Links the two by moved_to and gives both,
 * and their nodes, the state MOVED. Needs the states.
 */
void moved_link(struct diff_build *build);
