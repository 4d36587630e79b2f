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
	struct control *control;        /* borrowed; NULL: none */
	struct progress *progress;      /* borrowed; NULL: nothing is shown while it samples */
};

COMMON_MUST_CHECK
bool source_live_create(const struct source_live_options *options, struct source **source, struct error *err);
