/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "listing/listing.h"

/*
 * Chooses the functions that are listed: chosen[function]. Those whose difference is proven come by the change of
 * their own time, since that is where lines changed, before those whose callees alone did. `*left_out` as in struct
 * listing.
 */
COMMON_MUST_CHECK
bool choose_functions(const struct diff *diff, const struct listing_options *options, bool *chosen, size_t *left_out,
	struct error *err);

/* Whether a function's difference is proven: its own, or that with all that it calls. */
bool choose_is_proven(const struct diff *diff, const struct diff_function *function);
