/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Frames that come and go: one build calls through a function, and the other jumps past its frame (a tail call, a
 * wrapper that was added). The function's total time then appears or vanishes while its callees take the same time as
 * before.
 *
 * Such a total is `moved` if the sum at its place is kept: right below the nearest caller that both sides have, the
 * same callees lost what they gained below the frame, or the other way round, and each loss explains one gain. The
 * partner is that caller; moved_to names the one with the largest part. Where another function calls the callees, as
 * one that now does their work under a lock, nothing came or went between caller and callee: both totals have changed.
 * A function whose time has no such partner is new, more, less or gone. Nodes below that only changed their place are
 * marked as moved too. Self times are not changed. Needs the states.
 */
void frames_link(struct diff_build *build);
