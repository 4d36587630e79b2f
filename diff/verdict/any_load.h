/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"

/*
 * Head's load is not known where nobody counted the work of both sides (diff_load_is_open()): it may have been any in a
 * range (open_load.h). A deploy rarely comes with a larger change of load, and one that explains more than this is
 * named in the verdict, so that the reader decides. Where it is not known for how long a side was recorded, nothing is
 * said of the total at all.
 */

/*
 * Decides what holds for any such load. The total decides if its change per second exceeds every load in the range;
 * else the functions do that are proven to differ at every load in it.
 */
COMMON_MUST_CHECK
bool any_load_decide(struct diff_build *build, const struct proven *proven, struct error *err);
