/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Why more or less time passes on the clock (metric `elapsed`): more to do, more waiting, or less of it at the same
 * time. With c the CPU time and p how many threads run on average while any does, c / p + waiting is the time that
 * passes. Its difference is exactly that of waiting, that of c at the mean of 1 / p, and that of 1 / p at the mean of
 * c.
 */

/* Fills diff.elapsed, if that is the metric and both sides have CPU time. Needs the scale and the total's state. */
void elapsed_measure(struct diff_build *build);

/*
 * Returns whether a comparison of wall-clock time would tell more: of most of the difference threads wait, or run
 * together.
 */
bool elapsed_needs_waits(const struct diff *diff);

/*
 * Fills diff.elapsed.is_overlapped and what belongs to it by such a comparison: four threads that wait for the network
 * one after the other pass four times the time that they do at once, though the network is as fast as before and none
 * of them waits longer for it.
 */
void elapsed_find_overlap(struct diff *diff, const struct diff *waits);

/*
 * Appends to the verdict's sentence "; CPU time 7.9 → 8.0 s per run: less of it in parallel". What threads wait for
 * while others run is no elapsed time: where `waits`, a comparison of wall-clock time, has a proven place, "; `merge`
 * waits for the lock `queue`" follows. NULL: there is none.
 */
COMMON_MUST_CHECK
bool elapsed_say(struct diff_build *build, const struct diff *waits, struct error *err);
