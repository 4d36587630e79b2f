/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Frames that come and go: where one build calls through a function and the other jumps past its frame (a tail call, a wrapper that
 * was added), its inclusive time appears or vanishes while all that it calls takes what it took before. Such a total is `moved`,
 * and so are the nodes below that only changed their place. Needs the states; leaves self times alone.
 */
COMMON_MUST_CHECK
bool frames_link(struct diff_build *build, struct error *err);
