/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* The time of a run on the clock, and on CPUs: nanoseconds. */
struct bench_clock {
	double elapsed, cpu;
	bool is_recorded; /* the run was recorded with its elapsed time */
};

/*
 * Returns the time of a run. In one that was recorded with its elapsed time (docs/elapsed.md), what it waited for a CPU
 * is not counted, which is the machine's; of others the clock is that of the whole command.
 */
struct bench_clock bench_clock_of(const struct profile *run);

/*
 * Returns whether the time on the clock and that of CPUs differ by more than 10 %: the command waits, or its threads
 * run at the same time, so that CPU time is not what its users wait for. Runs of less than 20 ms are too short to tell.
 */
bool bench_clock_differs(const struct bench_clock *clock);
