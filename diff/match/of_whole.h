/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Matches the functions of a part that have no partner of the same key as the whole's comparison (diff->whole) has
 * matched them: a function is the same one, and of the same group, in each part. Needs the trees and align_functions().
 */
void of_whole_match(struct diff_build *build);
