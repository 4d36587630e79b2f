/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Sums up what self values consist of (profile/bottleneck.h): fills has_bottlenecks, bottlenecks_explain,
 * bottleneck_samples, node_cost and the functions' cost. Needs the nodes of samples. Profiles that do not tell of
 * bottlenecks pass through unchanged.
 */
void bottlenecks_collect(struct diff_build *build);
