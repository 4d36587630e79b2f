/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Finds the frame in which a tool sums up what it left out for want of room, as `other` of a limit of nodes. That is no
 * new function, and what it stands for is not gone: functions of the other side that are so small that they may have
 * been left out are one group with it (DIFF_TIER_GROUP). Needs the trees and align_functions().
 */
void truncated_match(struct diff_build *build);
