/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Why more or less time passes on the clock (metric `elapsed`): more to do, more waiting, or less of it at the same
 * time. With c the CPU time and p how many threads run on average while any does, c / p + waiting is the time that
 * passes. Its difference is exactly that of waiting, that of c at the mean of 1 / p, and that of 1 / p at the mean of
 * c.
 */

/* Fills diff.elapsed, if that is the metric and both sides have CPU time. Needs the scale. */
void elapsed_measure(struct diff_build *build);

/*
 * Whether threads that run less together are most of a proven difference. What they wait for meanwhile is no elapsed
 * time, as others run: a comparison of wall-clock time tells.
 */
bool elapsed_is_by_together(const struct diff *diff);

/*
 * Appends to the verdict's sentence "; CPU time 7.9 → 8.0 s per run: less of it in parallel", and where `waits`, a
 * comparison of wall-clock time, has a proven place, "; `merge` waits for the lock `queue`". `waits` may be NULL.
 */
COMMON_MUST_CHECK
bool elapsed_say(struct diff_build *build, const struct diff *waits, struct error *err);
