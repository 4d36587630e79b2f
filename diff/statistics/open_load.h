/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Comparing services whose work nobody counted. A factor of load multiplies the cost of every function alike, and it is
 * not known. Three readings bound it:
 * - per second: head had base's load;
 * - by share: all of the difference of the totals is load;
 * - the typical ratio of functions (load.h), which is neither where a few functions changed much.
 * Where it is not known for how long the sides were recorded, the first is per run, and the scale is the second.
 * A function is proven to differ only if it differs, in one direction, for every load between the least and the
 * greatest of the three. So the load of an unchanged program colours nothing, and neither does the growth of others.
 * Its interval is the union of its intervals over these loads.
 *
 * The whole has no share to be judged by. Its interval is that of the scale. It is proven to differ only if it does for
 * every load between 1/OPEN_LOAD_RANGE and OPEN_LOAD_RANGE times base's.
 */
enum { OPEN_LOAD_RANGE = 3 };

/*
 * Fills experiment->load, and row.load_variance of each row with how well its ends are known. Needs the sums. Does
 * nothing if the load is known or estimated.
 */
void open_load_weigh_rows(const struct diff_build *build, struct experiment *experiment);

/* Judges the rows' results, which hold what the scale says, by all loads in the range. */
void open_load_judge(const struct experiment *experiment, struct row_result *results);
