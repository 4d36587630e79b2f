/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/*
 * Returns whether the runs were simulated: their values are exact counts, and their times are those of the simulator.
 */
bool run_counts_known(const struct profile *const profiles[DIFF_SIDES]);

/* Appends what a run of each command counts: the mean, and the least and the most where runs of a side differ. */
void run_counts_append(struct buffer *text, const struct profile *const profiles[DIFF_SIDES]);
