/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Frames that come and go: where one build calls through a function and the other jumps past its frame (a tail call, a
 * wrapper that was added), its inclusive time appears or vanishes while all that it calls takes what it took before.
 *
 * Such a total is `moved` when both ends are known: what runs below the function takes as much time as before wherever
 * it runs, and other callers lost what this one gained, or the other way round. The partner is the one of the largest
 * part; moved_to names it. A function whose time came from nowhere that can be named is new, more, less or gone. Nodes
 * below that only changed their place are moved with it. Needs the states; leaves self times alone.
 */
COMMON_MUST_CHECK
bool frames_link(struct diff_build *build, struct error *err);
