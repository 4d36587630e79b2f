/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/simulator.h"
#include "cli/source.h"
#include "harness/harness.h"

/* Simulates a command until it ends or a signal comes. Each reading starts it anew, and makes one run. */

struct source_simulated_options {
	char *const *command; /* borrowed */
	struct simulator_cache caches[SIMULATOR_CACHES];
	bool has_benchmarks; /* the command runs benchmarks, which their harness names: nothing else is counted */
	bool no_arguments;   /* the command's stay out of the profile */
	const char *tool;    /* name and version for the profile's facts */
	const struct sampler_label *labels;
	size_t label_count;
	const int *streams; /* borrowed, STREAM_COUNT: what the command gets (streams_redirect()); NULL: ours */
};

enum source_simulated_stage {
	SOURCE_SIMULATED_CREATING,
	SOURCE_SIMULATED_STARTING, /* the command may not be found or not be executable: err->system_errno */
	SOURCE_SIMULATED_RUNNING,
	SOURCE_SIMULATED_FINISHING, /* the command has ended: result->child_status, also when reading fails */
};

struct source_simulated {
	struct source source;
	struct source_simulated_options options;
	struct simulator simulator;
	struct temporary temporary;
	struct sampler_simulation *simulation; /* owned: what was read last, until it is named */
	struct harness *harness;               /* owned, while a reading lasts; NULL: no benchmarks */
	struct harness_result heard;           /* of it; only the names of the harness and its toolchain */
	/* Of the last source_read(). */
	enum source_simulated_stage stage;
};

COMMON_MUST_CHECK
bool source_simulated_create(
	const struct source_simulated_options *options, struct source_simulated **simulated, struct error *err);

static inline void source_simulated_cleanup(struct source_simulated **simulated)
{
	if (*simulated)
		source_destroy(&(*simulated)->source);
}
