/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Tells for every function whether its machine code is the same on both sides: by fingerprint; else by its module's build id;
 * else, for a function that is seen only inlined, by the functions that hold it. Fills diff_function.code.
 */
COMMON_MUST_CHECK
bool code_compare(struct diff_build *build, struct error *err);

/* Functions of one side only whose code is found under one other name on the other side: renamed. Merges them (DIFF_TIER_MOVED). */
COMMON_MUST_CHECK
bool code_match_renamed(struct diff_build *build, size_t *renamed, struct error *err);
