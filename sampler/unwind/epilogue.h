/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/rules.h"

/*
 * The rule at an instruction that nothing describes, where the code from there on does nothing but undo its frame and return:
 * `[add $n,%rsp] [pop]... ret` or `leave; ret`. What will happen is then known, and no frame pointer has to be trusted. Code made
 * at run time often looks so behind its calls: CPython's perf trampoline is `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`. False for
 * anything else. The bytes are foreign.
 */
COMMON_MUST_CHECK
bool epilogue_rule(const uint8_t *bytes, size_t byte_count, struct rules_pushes *pushes);
