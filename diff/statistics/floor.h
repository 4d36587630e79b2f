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
