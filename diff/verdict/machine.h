/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"

/*
 * Waiting for a CPU is the machine's: other programs, and how many CPUs there are, decide how long a thread waits. If
 * nothing of the program's own work is proven to differ or differs by more, and that time does, the verdict is of the
 * machine.
 */

/*
 * Returns whether the time of waiting for a CPU differs, by proof or by size, and nothing of the program's own work
 * does.
 */
bool machine_is_reason(const struct diff_build *build, const struct proven *proven);

/*
 * Says "the program waits 600 ms more for a CPU per second; its own work is unchanged". `tolerated`: in scaled units.
 */
COMMON_MUST_CHECK
bool machine_say(struct diff_build *build, double tolerated, struct error *err);
