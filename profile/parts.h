/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;
struct profile_run;

/*
 * Parts of an execution that have names, such as the benchmarks of a suite. Each part is a run whose name is that of
 * the part; several parts may have the same one. The last run without a name before it is the execution that it is part
 * of; this one holds what lies in none of the parts, such as the start of the program and the work of the harness.
 *
 *	struct profile_run part = { .name = name };
 *	struct profile_stretch rounds[] = { { 0, 1000000, 0 }, { 3000000, 4000000, 0 } };
 *	struct profile_cut cut = { .parts = &part, .part_count = 1, .stretches = rounds, .stretch_count = 2 };
 *
 *	if (!profile_cut_parts(recording, &cut, &suite, err))
 *		return false;
 *	for (uint32_t run = 0; run < suite->run_count; run++)
 *		if (suite->runs[run].name != 0)
 *			add(profile_string(suite, suite->runs[run].name), profile_execution(suite, run));
 */

/* Whether a run has a name. */
bool profile_has_parts(const struct profile *profile);

/* The execution that a run is part of; the run itself if it has no name, or no execution comes before it. */
uint32_t profile_execution(const struct profile *profile, uint32_t run);

/* The number of runs that are executions. */
size_t profile_execution_count(const struct profile *profile);

/* A time of an execution that belongs to one of its parts: a round of a benchmark. */
struct profile_stretch {
	int64_t start_ns, end_ns; /* since the start of the execution; the end is not part of it */
	uint32_t part;            /* index in profile_cut.parts */
};

struct profile_cut {
	const struct profile_run *parts; /* as the profile shall have them; names are strings of the profile cut */
	size_t part_count;
	const struct profile_stretch *stretches; /* by start; they do not overlap */
	size_t stretch_count;
	/*
	 * A stack of a part that has a function with this in its name begins at the outermost such function. NULL:
	 * stacks stay as they are.
	 */
	const char *root;
};

/*
 * Cuts the recording of one execution into that execution and its parts, by the times of its events: those in no
 * stretch stay with the execution. Times of a part's events count from its first stretch. The locations of `profile`
 * must have lines if `root` is given. The duration of the execution becomes what is left of it; those of the parts are
 * the caller's. When waits were ended is not known, but of which stack: releases go with a stack that a part has.
 * Requests stay with the execution: latencies do not tell when they were.
 * ERROR_UNSUPPORTED: the profile has no timeline, or more than one run; ERROR_FORMAT: stretches overlap, or parts are
 * not there. `*cut_profile` is the caller's.
 */
COMMON_MUST_CHECK
bool profile_cut_parts(
	const struct profile *profile, const struct profile_cut *cut, struct profile **cut_profile, struct error *err);

/*
 * Makes a profile of chosen parts. Those of one execution become one run, one behind the other: its duration is that of
 * the parts, and it has no name and no figures of the command, since these are of more than the parts. `factors`
 * ([run]; 0: the run is not chosen): what the values of a part are multiplied with, except numbers of samples, so that
 * parts with different numbers of iterations can be compared. Facts, labels and quality are those of the whole profile;
 * of the releases of a stack, the share that the chosen parts have of its waiting time. Requests are of whole
 * executions, and are left out. ERROR_EMPTY: nothing was recorded in the chosen parts; ERROR_USAGE: a factor is
 * negative or not finite. `*chosen` is the caller's.
 */
COMMON_MUST_CHECK
bool profile_choose_parts(
	const struct profile *profile, const double *factors, struct profile **chosen, struct error *err);
