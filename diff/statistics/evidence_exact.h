/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Decides what is proven of counts that nobody sampled (diff.is_exact). A program that does the same work has the same
 * counts, so equal counts are equal, and a difference is a difference of the program. Only two things are noise:
 *
 * - What repeats of one side differ by: a difference is proven if it is larger than the range of either side's runs,
 *   times a factor that depends on how many runs there are. This is a test by ranges (Lord 1947, "The use of range in
 *   place of standard deviation in the t-test", Biometrika 34), with the greater of both ranges.
 * - With fewer than 3 runs on a side, what runs of an interpreter or of a garbage collector are known to differ by, as
 *   a part of the total. Compiled programs are assumed to repeat themselves.
 *
 * There is no test, so no p, no interval, and no correction for the number of functions. A row's values in every run
 * are in the experiment, whose units are the runs. Fills the estimates' states and `detectable`, and
 * evidence.assumed_part. Needs the states of states_without_evidence().
 */
void evidence_exact(struct diff_build *build, const struct experiment *experiment);

/*
 * Returns the same of one value of which the means of runs are compared: how large a difference noise can explain.
 * `ranges`: of the runs of each side; `has_runtime`: a language's runtime runs the program; `total`: the greater of
 * both means.
 */
double evidence_exact_noise(
	const double ranges[DIFF_SIDES], const size_t runs[DIFF_SIDES], bool has_runtime, double total);
