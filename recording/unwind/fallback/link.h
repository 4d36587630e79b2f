/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/unwind/rule_cache.h"

/*
 * Whether the function at `callee` may have been called by the call before `return_address`, as far as the code shows:
 * a call to a known function leads to that function, or to one that it ends with a jump to. Return addresses left over
 * from earlier calls mostly contradict the call that was made last.
 */
bool link_is_possible(const struct unwind_space *space, uint64_t return_address, uint64_t callee);
