/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;
struct profile_run;

/*
 * Phases of an execution that have names, such as the benchmarks of a suite. Each phase is a run whose name is that of
 * the phase; several phases may have the same one. The last run without a name before it is its execution; this one
 * holds what lies in none of the phases, such as the start of the program and the work of the harness.
 *
 *	struct profile_run phase = { .name = name };
 *	struct profile_stretch rounds[] = { { 0, 1000000, 0 }, { 3000000, 4000000, 0 } };
 *	struct profile_cut cut = { .phases = &phase, .phase_count = 1, .stretches = rounds, .stretch_count = 2 };
 *
 *	if (!profile_cut_phases(recording, &cut, &suite, err))
 *		return false;
 *	for (uint32_t run = 0; run < suite->run_count; run++)
 *		if (suite->runs[run].name != 0)
 *			add(profile_string(suite, suite->runs[run].name), profile_execution(suite, run));
 */

/* Returns whether a run has a name. */
bool profile_has_phases(const struct profile *profile);

/* Returns the execution that a run is part of; the run itself if it has no name, or no execution comes before it. */
uint32_t profile_execution(const struct profile *profile, uint32_t run);

/* Returns the number of runs that are executions. */
size_t profile_execution_count(const struct profile *profile);

/* A time of an execution that belongs to one of its phases: a round of a benchmark. */
struct profile_stretch {
	int64_t start_ns, end_ns; /* since the start of the execution; the end is not part of it */
	uint32_t phase;           /* index in profile_cut.phases */
};

struct profile_cut {
	const struct profile_run *phases; /* as the profile shall have them; names are strings of the profile cut */
	size_t phase_count;
	const struct profile_stretch *stretches; /* by start; they do not overlap */
	size_t stretch_count;
	/*
	 * A stack of a phase that has a function with this in its name begins at the outermost such function. NULL:
	 * stacks stay as they are.
	 */
	const char *root;
};

/*
 * Cuts the recording of one execution into that execution and its phases, by the times of its events: those in no
 * stretch stay with the execution. Times of a phase's events count from its first stretch. The locations of `profile`
 * must have lines if `root` is given. The duration of the execution becomes what is left of it; those of the phases are
 * the caller's. When waits were ended is not known, but of which stack: releases go with a stack that a phase has.
 * Requests stay with the execution: latencies do not tell when they were.
 * ERROR_UNSUPPORTED: the profile has no timeline, or more than one run; ERROR_FORMAT: stretches overlap, or phases are
 * not there. `*cut_profile` is the caller's.
 */
COMMON_MUST_CHECK
bool profile_cut_phases(
	const struct profile *profile, const struct profile_cut *cut, struct profile **cut_profile, struct error *err);

/*
 * Makes a profile of chosen phases. Those of one execution become one run, one behind the other: its duration is that
 * of the phases, and it has no name and no figures of the command, since these are of more than the phases. `factors`
 * ([run]; 0: the run is not chosen): what the values of a phase are multiplied with, except numbers of samples, so that
 * phases with different numbers of iterations can be compared. Facts, labels and quality are those of the whole
 * profile; of the releases of a stack, the share that the chosen phases have of its waiting time. Requests are of whole
 * executions, and are left out. ERROR_EMPTY: nothing was recorded in the chosen phases; ERROR_USAGE: a factor is
 * negative or not finite. `*chosen` is the caller's.
 */
COMMON_MUST_CHECK
bool profile_choose_phases(
	const struct profile *profile, const double *factors, struct profile **chosen, struct error *err);

/* Makes a profile whose phases are parts of their executions again. NULL in `*joined`: the profile has no phases. */
COMMON_MUST_CHECK
bool profile_join_phases(const struct profile *profile, struct profile **joined, struct error *err);
