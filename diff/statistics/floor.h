/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"
#include "diff/statistics/evidence_single.h"

/*
 * Returns the language of most of a program, by which the variation between processes is chosen: by the modules and
 * names that have the most time on both sides. Needs the scaled totals.
 */
enum profile_language floor_language(const struct diff *diff);

/* Returns the same of a profile of which no diff has been made: a runtime runs it if one of its modules is there. */
enum profile_language floor_language_of_profile(const struct profile *profile);

/*
 * Returns whether a language's runtime runs the program, or a good part of it: a function of it has that share of the
 * total with all it calls. Of metrics such as cache misses most may be in the C library that the runtime calls.
 */
bool floor_has_runtime(const struct diff *diff);

/* Returns whether a program's code is compiled at run time, differently in every process. */
bool floor_is_compiled_at_run_time(enum profile_language language);

/* Returns the floor for the program's language. */
struct process_floor floor_of(const struct diff_build *build);

/*
 * Fills row.waits of every row: how long threads wait depends on how they meet, which differs from process to process
 * more than what they compute.
 */
void floor_weigh_waits(const struct diff_build *build, struct experiment *experiment);

/*
 * Adds to row.machine_variance what busy CPUs do to waits. Waiting for a CPU is in no total itself, but whoever holds a
 * lock waits for one as well, and all who want the lock wait with it; a process that answers, too. Such waits may be as
 * many times longer on one side as the program's threads got on more slowly there.
 */
void floor_weigh_busy_cpus(const struct diff_build *build, struct experiment *experiment);
