/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"
#include "diff/statistics/evidence_single.h"

/* What most of a program's time is in, as far as processes of it vary alike. */
enum language {
	LANGUAGE_NATIVE,
	LANGUAGE_PYTHON,
	LANGUAGE_NODE,
	LANGUAGE_JAVA,
	LANGUAGE_RUBY,
	LANGUAGE_GO,
	LANGUAGE_UNKNOWN,
	LANGUAGE_COUNT,
};

/* By the modules and names that hold both sides' time. Needs the scaled totals. */
enum language floor_language(const struct diff *diff);

/* Whether its code is compiled at run time, otherwise in every process. */
bool floor_is_compiled_at_run_time(const struct diff *diff);

/* The floor for the language. */
struct process_floor floor_of(const struct diff_build *build);

/*
 * Fills row.by_tier of every row. A program that is compiled at run time is a mixture: V8 and HotSpot run each function
 * in one of several tiers, inline it or not, and decide that anew in every process by when their samplers and queues
 * get to run. One process does not show the others. The time of a compiled function goes to its callers and callees;
 * whether it has a frame and a name depends on its tier; and what compiled code calls of the runtime (an iterator, a
 * comparison) is not called at all where a better tier inlines it.
 */
COMMON_MUST_CHECK
bool floor_mark_rows(const struct diff_build *build, struct experiment *experiment, struct error *err);
