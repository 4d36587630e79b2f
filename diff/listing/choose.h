/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/listing/listing.h"

/* Which functions of a diff are listed. */
struct listing_choice {
	bool *chosen, *named; /* owned; [function]; named: by the expression */
	size_t count, left_out;
};

/*
 * Chooses functions. Of those whose difference is proven, the one that the verdict names comes first; then they come by
 * the change of their own time, since that is where lines changed, before those whose callees alone did. The choice is
 * to be released in any case.
 */
COMMON_MUST_CHECK
bool choose_functions(const struct diff *diff, const struct listing_options *options, struct listing_choice *choice,
	struct error *err);
void choice_deinit(struct listing_choice *choice);

/* Returns whether a function's difference is proven: its own, or that with all that it calls. */
bool choose_is_proven(const struct diff *diff, const struct diff_function *function);
