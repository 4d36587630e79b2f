/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* The limits of --fail-on, held against a history: what is proven to have begun at the newest profile of a series. */

/*
 * Returns the exit code: regressed if a limit is exceeded; inconclusive if no series has enough profiles for the newest
 * to be judged, or if the newest alone is beyond a limit and stands out from all before it, which one profile does not
 * prove. Says which limit it was, and which function, on standard error.
 */
int history_gate_code(const struct history *history, const struct diff_gate *gates, size_t count);
