/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Tells for every function whether its machine code is the same on both sides: by fingerprint; else by its module's
 * build id; else, for a function that is seen only inlined, by the functions that hold it. Fills diff_function.code.
 */
COMMON_MUST_CHECK
bool code_compare(struct diff_build *build, struct error *err);

/*
 * Whether two functions, each of one side only, may be one that was renamed: not when the code of either is in the
 * other recording too (the same binary, the same kernel), where it merely was not sampled; and a PLT stub is called
 * what it calls. Needs code_compare().
 */
bool code_may_be_renamed(const struct diff_build *build, uint32_t base, uint32_t head);

/*
 * Whether two functions, each of one side only, lie inlined in functions of the same code: then that code goes by
 * another name, if they have the same callers and time.
 */
bool code_is_renamed_inside(const struct diff_build *build, uint32_t base, uint32_t head);

/* Functions of one side only whose code is found under one other name on the other side: renamed. Merges them
 * (DIFF_TIER_MOVED). */
COMMON_MUST_CHECK
bool code_match_renamed(struct diff_build *build, size_t *renamed, struct error *err);
