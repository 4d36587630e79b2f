/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Marks the functions, and fills row.by_tier of rows, whose time depends on what a run-time compiler decides anew in
 * every process. V8 and HotSpot run each function in one of several tiers and inline it or not, depending on when their
 * samplers and queues run. Functions of the run time stand in for compiled code that has not been compiled yet, or that
 * calls them: a better tier inlines these.
 */
void tiers_mark(const struct diff_build *build, struct experiment *experiment);
