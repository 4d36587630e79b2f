/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * The change of the total by a clock of its own, such as that of a benchmark's harness: the logarithm of head over
 * base, its standard error, and the p-value of no change. That was one of several tests: at the rate q of this
 * comparison its q-value is p times `adjustment`.
 */
struct diff_measured {
	double effect, error, p, adjustment;
};

/*
 * Gives rows that are all of the time the proof of the whole, where a clock measured that (diff_options.measured). A
 * benchmark of a millisecond has few samples, which prove little, but a harness that timed it 10,000 times: a function
 * that is all of the benchmark has changed as the benchmark has. Its change is that of the whole times the ratio of its
 * shares, and it is no further test, so that its p is adjusted as that of the whole was. The variance of a share is
 * binomial, with one sample more that is not the function's (so that 20 of 20 samples are no proof of all), or that
 * between units of replication if this is greater.
 *
 * Rows are left as they are that are less than 95 % of either side, or if nothing was measured.
 */
void measured_weigh(const struct diff_build *build, const struct experiment *experiment, struct row_result *results);
