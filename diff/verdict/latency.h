/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"

/*
 * The latency of requests as a reason: where waiting is compared, how long a request takes is what is asked. What
 * threads wait for explains it, as far as it is measured.
 */

/* Returns the direction in which it is proven that requests take longer or less long; NEITHER where it is not asked. */
enum proven_way latency_way(const struct diff *diff);

/* Says "requests take 8.46 times as long (p50 1.95 → 16.5 ms), most of all `fetch` for the network". */
COMMON_MUST_CHECK
bool latency_decide(struct diff_build *build, struct error *err);
