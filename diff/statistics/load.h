/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * The load factor, by which head's values are multiplied to compare them at base's load. It is the median of ratios
 * (Anders and Huber 2010) over controls: parts of the program that are assumed to do the same work for each unit of
 * load on both sides.
 *
 * A control is a function of the user's code with all library and system code that it calls. Functions of a runtime or
 * the kernel are no controls, because they follow what the program asks of them. Functions of unchanged code are
 * preferred, then those whose code is not known to have changed; in a program with too little code of its own, single
 * functions by their self time, unchanged ones first. Time in which threads wait (epoll_wait, futex, nanosleep) follows
 * the number of wake-ups, and belongs to no control.
 *
 * The factor is an estimate, whose variance follows from how far the controls disagree. If they cannot distinguish load
 * from change, the load is unknown, and `doubt` says why.
 */

/* Makes [node]: whether the node is a wait for work or lies below one, as epoll_wait(). Owned by the caller. */
void load_find_waiting(const struct diff *diff, bool **waiting);

/* Measures build->load. Needs the union tree, raw totals and code. */
void load_measure(struct diff_build *build);

/* Returns the logarithm of head's rate of requests over base's; 0: the length of a recording is not known. */
double load_rate_change(const struct diff_build *build);

/*
 * Returns the same of calls out, by which a worker that answers no requests takes its jobs and hands in their results.
 * `*is_known`: both sides made enough of them.
 */
double load_calls_change(const struct diff_build *build, bool *is_known);

/*
 * Returns the reason why the load is unknown, as part of a sentence: "most of head's time is in functions that
 * changed". "" for LOAD_KNOWN.
 */
const char *load_doubt_words(enum load_doubt doubt);

/* Returns the recorded time of a side's runs, in seconds; 0 if it is not known for a run. */
double load_seconds(const struct profile *profile);
