/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"

/* One line on standard error, rewritten in place; nothing when that is no terminal. */
struct progress {
	bool is_terminal;
	bool is_shown;
	int64_t last_ns; /* CLOCK_MONOTONIC of the last writing */
};

void progress_init(struct progress *progress, bool quiet);

/* What a recording waits for before it begins and ends, in seconds; 0: nothing that is known before. */
struct progress_plan {
	double delay_s, duration_s;
};

/* At most ten times a second. */
void progress_show(struct progress *progress, const struct sampler_progress *state, const struct progress_plan *plan);

/* A phase that may take longer than a moment. */
void progress_phase(struct progress *progress, const char *text);

void progress_clear(struct progress *progress);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t progress_now_ns(void);
