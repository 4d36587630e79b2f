/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/floor.h"

#include <string.h>

/*
 * Relative standard deviation of a function's share between processes of one binary, beyond what blocks of time within a process
 * show: placement of heap, stack and code, hash seeds, threads' schedules, what the garbage collector and the compiler at run time
 * decided. `others` covers nine of ten functions of the programs in tests/unit/diff/data/floor.csv with room for heavier tails.
 * They were raised until pairs of those programs' processes flagged something in at most 5 of 100 cases.
 * `changed` is set lower, so that a change of code can be found at all, and is only where evidence_single() starts from: what
 * functions of unchanged code differ by in the pair at hand decides.
 */
static const struct process_floor floors[] = {
	[LANGUAGE_NATIVE] = { .changed = 0.055, .others = 0.20 }, /* C, C++, Rust */
	[LANGUAGE_PYTHON] = { .changed = 0.055, .others = 0.20 },
	[LANGUAGE_RUBY] = { .changed = 0.055, .others = 0.20 },
	[LANGUAGE_NODE] = { .changed = 0.055, .others = 0.30 },
	[LANGUAGE_JAVA] = { .changed = 0.055, .others = 0.40 },
	[LANGUAGE_GO] = { .changed = 0.055, .others = 0.40 },
	[LANGUAGE_UNKNOWN] = { .changed = 0.055, .others = 0.40 }, /* as the least steady one */
};

/* Of a side's time in the modules of a runtime: most of a program compiled at run time lies in code that has a module of its own. */
static const double runtime_share = 0.125, most = 0.5;

static bool begins(const char *module, const char *with)
{
	return strncmp(module, with, strlen(with)) == 0;
}

static enum language language_of_module(const char *module)
{
	if (begins(module, "python") || begins(module, "libpython"))
		return LANGUAGE_PYTHON;
	if (strcmp(module, "node") == 0 || begins(module, "libnode"))
		return LANGUAGE_NODE;
	if (begins(module, "libjvm") || strcmp(module, "java") == 0)
		return LANGUAGE_JAVA;
	return begins(module, "libruby") || begins(module, "ruby") ? LANGUAGE_RUBY : LANGUAGE_NATIVE;
}

static enum language language_of_function(const struct diff *diff, const struct diff_function *f)
{
	if (f->name_source == PROFILE_NAME_GO)
		return LANGUAGE_GO;
	/* A file of another tool that names no module says nothing. */
	if (f->module == 0 && f->origin == PROFILE_ORIGIN_UNKNOWN)
		return LANGUAGE_UNKNOWN;
	return language_of_module(diff_string(diff, f->module));
}

enum language floor_language(const struct diff *diff)
{
	double times[LANGUAGE_COUNT] = { 0 }, all = 0;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		double time = f->interrupt ? 0 : f->self.base + f->self.head;

		all += time;
		times[language_of_function(diff, f)] += time;
	}
	if (times[LANGUAGE_PYTHON] > most * all)
		return LANGUAGE_PYTHON;
	if (times[LANGUAGE_NODE] > runtime_share * all)
		return LANGUAGE_NODE;
	if (times[LANGUAGE_JAVA] > runtime_share / 2 * all)
		return LANGUAGE_JAVA;
	for (int language = LANGUAGE_RUBY; language < LANGUAGE_COUNT; language++)
		if (times[language] > most * all)
			return (enum language)language;
	return LANGUAGE_NATIVE;
}

struct process_floor floor_of(const struct diff_build *build)
{
	return floors[floor_language(build->diff)];
}

bool floor_is_compiled_at_run_time(const struct diff *diff)
{
	enum language language = floor_language(diff);

	return language == LANGUAGE_NODE || language == LANGUAGE_JAVA;
}
