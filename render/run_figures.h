/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/*
 * Appends what the runs took: wall-clock time, CPU time and peak memory of either side with 95 % intervals, how head
 * differs, and the runs that lie far from the others. Of simulated runs, what they counted (run_counts.h).
 */
void render_run_figures(struct buffer *text, const struct profile *const profiles[DIFF_SIDES]);
