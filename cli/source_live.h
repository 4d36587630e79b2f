/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/control.h"
#include "cli/progress.h"
#include "cli/source.h"

/*
 * Samples a target until it ends, its time is over, a signal comes or --control says stop. Each reading samples anew; a
 * command is started by each.
 */

struct source_live_options {
	struct sampler_options sampler; /* start_disabled is set here */
	double duration_s;              /* 0: until the target ends or a signal comes */
	uint64_t delay_ms;              /* from the start until sampling is switched on */
	bool starts_disabled;           /* until `control` switches it on */
	const int *streams;        /* borrowed, STREAM_COUNT: what a command gets (streams_redirect()); NULL: ours */
	struct control *control;   /* borrowed; NULL: none */
	struct progress *progress; /* borrowed; NULL: nothing is shown while it samples */
};

/* How far source_read() came. */
enum source_live_stage {
	SOURCE_LIVE_CREATING,
	SOURCE_LIVE_STARTING, /* a command may not be found or not be executable: err->system_errno */
	SOURCE_LIVE_SAMPLING,
	SOURCE_LIVE_FINISHING, /* what was recorded is being handed over, or has been */
};

struct source_live {
	struct source source;
	struct source_live_options options;
	/* Of the last source_read(). */
	enum source_live_stage stage;
	bool has_begun; /* sampling has been switched on at least once */
};

COMMON_MUST_CHECK
bool source_live_create(const struct source_live_options *options, struct source_live **live, struct error *err);

static inline void source_live_cleanup(struct source_live **live)
{
	if (*live)
		source_destroy(&(*live)->source);
}
