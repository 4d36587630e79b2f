/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/rule_cache.h"

/* The evidence that the call before a return address gives on the function that it may have called. */
enum link {
	LINK_IMPOSSIBLE, /* it leads to another function, which does not end with a jump */
	LINK_UNKNOWN,    /* it leads to where only the running program knew, or cannot be read */
	LINK_BY_JUMP,    /* it leads to a function that may have jumped to this one */
	LINK_BY_CALL,    /* it leads to this function */
};

/*
 * The link between the call before `return_address` and the function at `callee`, as far as the code shows it. Return
 * addresses left over from earlier calls mostly contradict the call that was made last.
 */
enum link link_between(const struct unwind_space *space, uint64_t return_address, uint64_t callee);

static inline bool link_is_possible(const struct unwind_space *space, uint64_t return_address, uint64_t callee)
{
	return link_between(space, return_address, callee) != LINK_IMPOSSIBLE;
}

/*
 * Returns whether the call before `return_address` leads to the function at `callee`, which no table describes: an
 * image's function of some 100 bytes, as Go's that switch stacks, with padding before the next one.
 */
bool link_is_of_small_function(const struct unwind_space *space, uint64_t return_address, uint64_t callee);
