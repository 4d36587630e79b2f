/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * How much the rows of an experiment are known by their samples: events that were counted at a changing period weigh
 * unequally, and a few heavy ones tell less than as many as their mean would make of their sum. Fills design_effect
 * (Kish 1965, 8.2): a row's squared weights over its weights, of both sides, in mean weights. Leaves it NULL where all
 * samples weigh the same. Needs the experiment's sums.
 */
COMMON_MUST_CHECK
bool weights_fill(const struct diff_build *build, struct experiment *experiment, struct error *err);
