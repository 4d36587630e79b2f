/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Determines for every function whether its machine code is the same on both sides: by fingerprint; else by its
 * module's build id; else, if it is only inlined, by the functions that it is inlined into. Fills diff_function.code.
 */
void code_compare(struct diff_build *build);

/*
 * Returns whether a module (string of the diff) is a binary that both sides have, and each another one: the linker may
 * have put its functions elsewhere.
 */
bool code_module_is_relinked(const struct diff_build *build, uint32_t module);

/*
 * Returns whether two functions, each of one side only, may be one function that was renamed. They are not if the other
 * recording's binary contains the code of either (the same binary, the same kernel) and it merely was not sampled
 * there. A PLT stub has the name of the function that it calls. Needs code_compare().
 */
bool code_may_be_renamed(const struct diff_build *build, uint32_t base, uint32_t head);

/*
 * Returns whether two functions, each of one side only, are inlined in functions of the same code. Then that code has
 * got another name, provided that they have the same callers and time.
 */
bool code_is_renamed_inside(const struct diff_build *build, uint32_t base, uint32_t head);

/*
 * Merges functions that occur on one side only with the one function of another name that has the same code on the
 * other side: they were renamed (DIFF_TIER_CODE).
 */
void code_match_renamed(struct diff_build *build, size_t *renamed);
