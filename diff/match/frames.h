/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Frames that come and go: one build calls through a function, and the other jumps past its frame (a tail call, a
 * wrapper that was added). The function's total time then appears or vanishes while its callees take the same time as
 * before.
 *
 * Such a total is `moved` if both ends are known: the functions below take as much time as before wherever they run,
 * and other callers lost what this one gained, or the other way round. The partner is the caller with the largest part;
 * moved_to names it. A function whose time has no such partner is new, more, less or gone. Nodes below that only
 * changed their place are marked as moved too. Self times are not changed. Needs the states.
 */
COMMON_MUST_CHECK
bool frames_link(struct diff_build *build, struct error *err);
