/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* The parts of a verdict about waits: what threads wait for, where, and who lets them go on. Needs
 * wait_sites_collect(). */

/* Returns whether waits of the class are the machine's, beside the metric's total. */
bool waiting_is_apart(const struct diff *diff, enum profile_wait_class wait_class);

/*
 * Appends the reason for a proven difference of the total: "`Cache::get` waits longer for the lock `cache_lock`, held
 * by `Cache::evict`: +2.1 s per run, 92 % of the increase", of wall-clock time also "; 2.2 s more waiting time, CPU
 * time unchanged"; where no place is named, `cause` instead. Fills named_wait.
 */
void waiting_explain(struct diff_build *build, const char *cause, struct buffer *text);

/*
 * Returns whether a function's proven difference is one of waits: it is the frame of a class, or the metric has nothing
 * else.
 */
bool waiting_is_reason(
	const struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate);

/*
 * Appends who waits for what, if waiting_is_reason(): "`Cache::get` waits for the lock `cache_lock`, held by
 * `Cache::evict`".
 */
bool waiting_append_what(struct diff_build *build, const struct diff_function *function,
	const struct diff_estimate *estimate, struct buffer *text);

/*
 * Writes the sentence for such a difference: "`Cache::get` waits for the lock `cache_lock`, held by `Cache::evict`:
 * 3.10 times as long per second (...), 34.0 % of all waiting time after 12.0 % in base", and `rest`. Fills verdict_text
 * and named_wait.
 */
COMMON_MUST_CHECK
bool waiting_say(struct diff_build *build, const struct diff_function *function, const struct diff_estimate *estimate,
	const char *rest, struct error *err);

/* Appends the place that a verdict names: "`Cache::get` waits longer for the lock `cache_lock`, held by `f`". */
void waiting_append_named(const struct diff *diff, struct buffer *text);

/* Appends ", most of all `fetch` for a timer", where one place has most of a difference of waits. */
void waiting_append_most(const struct diff *diff, double delta, struct buffer *text);
