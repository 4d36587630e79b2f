/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Chooses the other reading of the same recordings: per run or per second if the scale is at equal load, and the other
 * way round. Fills scale.other_mode and other_factor. Needs the final scale.
 */
void readings_choose(struct diff_build *build);

/*
 * Returns the number of functions that are proven to take more time by one reading and less by the other. `*greatest`:
 * the function with the largest difference (PROFILE_NONE: none). Needs the states.
 */
size_t readings_disagree(const struct diff *diff, double min_effect_points, uint32_t *greatest);
