/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"
#include "diff/statistics/experiment.h"

/*
 * The load factor: what head's values are multiplied by to be compared at base's load. It is the median of ratios
 * (Anders and Huber 2010) over controls: parts of the program that are taken to do the same work for each unit of load
 * on both sides.
 *
 * A control is a function of the user's code with all library and system code that it runs: a runtime's functions and
 * the kernel's do whatever the program asks for, and follow its changes. Those of unchanged code come first, then those
 * whose code is not known to have changed; where a program has too little code of its own, single functions by their
 * self time, unchanged ones first. What threads wait in (epoll_wait, futex, nanosleep) follows the number of wake-ups,
 * and belongs to no control.
 *
 * The factor is an estimate. Its variance comes from how far the controls disagree. Where that cannot tell load from
 * change, the load is unknown, and `doubt` says why.
 */

/* Measures build->load. Needs the union tree, raw totals and code. */
COMMON_MUST_CHECK
bool load_measure(struct diff_build *build, struct error *err);

/*
 * Fills row.load_variance of every row: the variance of the factor where head was scaled by it; and where a row's time
 * is spent waiting, what that may differ from the load by. Needs the scale.
 */
COMMON_MUST_CHECK
bool load_weigh_rows(const struct diff_build *build, struct experiment *experiment, struct error *err);

/* Why the load is unknown, as the reason in a sentence: "most of head's time is in functions that changed". "" for
 * LOAD_KNOWN. */
const char *load_doubt_words(enum load_doubt doubt);

/* Recorded time of a side's runs, in seconds; 0 when a run does not know it. */
double load_seconds(const struct profile *profile);
