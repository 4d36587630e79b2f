/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Fills the amount of information in the samples of each row. Events that were counted at a changing period have
 * unequal weights, and a few heavy samples say less than many light ones with the same sum. Waits are as unequal as can
 * be, and each event's own weight counts, not the mean of its sample's events. Fills design_effect (Kish 1965, 8.2): a
 * row's sum of squared weights over its sum of weights, of both sides, in mean weights. Leaves it NULL if all samples
 * have the same weight. Needs the experiment's sums.
 */
void weights_fill(const struct diff_build *build, struct experiment *experiment);
