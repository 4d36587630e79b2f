/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * The load factor, by which head's values are multiplied to compare them at base's load: what functions have in common
 * by the model of evidence, of whose load nothing is known before (evidence_common_factor()).
 *
 * A function of the user's code is taken with all library and system code that it calls: functions of a runtime or the
 * kernel follow what the program asks of them. In a program with too little code of its own all functions are asked.
 * Time in which threads wait (epoll_wait, futex, nanosleep) follows the number of wake-ups, and belongs to none.
 */

/* Measures build->load. Needs the union tree, raw totals and code. */
void load_measure(struct diff_build *build);

/*
 * Returns the logarithm of head's rate of requests over base's, as a request meets it: the mean over requests of the
 * rate in the second in which each came, since those of a burst wait for each other however long nothing came before.
 * 0: it is not known.
 */
double load_rate_change(const struct diff_build *build);

/*
 * Returns the same of calls out, by which a worker that answers no requests takes its jobs and hands in their results.
 * `*is_known`: both sides made enough of them.
 */
double load_calls_change(const struct diff_build *build, bool *is_known);

/* Returns whether all runs of one side began before all of the other; false also where nobody knows when they did. */
bool load_is_apart(const struct profile *const profiles[DIFF_SIDES]);

/* Returns the recorded time of a side's runs, in seconds; 0 if it is not known for a run. */
double load_seconds(const struct profile *profile);
