/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The parts of a verdict about waits: what threads wait for, where, and who lets them go on. Needs
 * wait_sites_collect(). */

/*
 * Appends the reason for a proven difference of the total to verdict_text: ": for a lock in Cache::get; released by
 * Cache::evict", of wall-clock time ": 2.1 s more waiting for a lock in Cache::get, CPU time unchanged". Fills
 * named_wait. In other metrics it does nothing.
 */
COMMON_MUST_CHECK
bool waiting_explain(struct diff_build *build, struct error *err);

/* Whether a function's proven difference is one of waits: it is the frame of a class, or the metric has nothing else.
 */
bool waiting_is_reason(
	const struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate);

/*
 * The sentence for such a difference: "waiting for a lock in Cache::get takes 3.10 times as long per second (...): 34.0
 * % of all waiting time, after 12.0 % in base", and `rest`. Fills verdict_text and named_wait.
 */
COMMON_MUST_CHECK
bool waiting_say(struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate,
	const char *rest, struct error *err);
