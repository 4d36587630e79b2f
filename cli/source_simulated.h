/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/source.h"
#include "sampler/sampler.h"

struct source_simulated_options {
	char *const *command; /* borrowed */
	struct simulator_cache caches[SIMULATOR_CACHES];
	bool has_benchmarks;  /* the command runs benchmarks, which their harness names: nothing else is counted */
	bool folds_recursion; /* recursive calls from one place share a context */
	bool no_arguments;    /* the command's stay out of the profile */
	const char *tool;     /* name and version for the profile's facts */
	const struct sampler_label *labels;
	size_t label_count;
	const int *streams; /* borrowed, CHILD_STREAMS: what the command gets; NULL: ours */
};

/*
 * Simulates a command until it ends or a signal comes. Each reading starts it anew, and makes one run. When it has
 * ended, the result has its child_status, also when reading fails.
 */
COMMON_MUST_CHECK
bool source_simulated_create(const struct source_simulated_options *options, struct source **source, struct error *err);
