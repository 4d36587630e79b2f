/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * The reading of the same recordings that was not chosen: per run or per second beside equal load, and the other way
 * round. Fills scale.other_mode and other_factor. Needs the scale, refined.
 */
void readings_choose(struct diff_build *build);

/*
 * Functions that are proven to take more time by one reading and take less by the other, or the reverse: how many, and
 * in
 * `*greatest` the one of the largest difference (PROFILE_NONE: none). Needs the states.
 */
size_t readings_disagree(const struct diff *diff, double min_effect_points, uint32_t *greatest);
