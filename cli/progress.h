/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"

/* A line on standard error that is rewritten in place; nothing is printed if standard error is no terminal. */
struct progress {
	bool is_terminal;
	bool is_shown;
	int64_t last_ns; /* time of the last output, CLOCK_MONOTONIC */
};

void progress_init(struct progress *progress, bool quiet);

/* The delay and duration of a recording, in seconds; 0: none, or not known in advance. */
struct progress_plan {
	double delay_s, duration_s;
};

/* Updates the line, at most ten times a second. */
void progress_show(struct progress *progress, const struct sampler_progress *state, const struct progress_plan *plan);

/* Shows the name of a phase that may take some time. */
void progress_phase(struct progress *progress, const char *text);

void progress_clear(struct progress *progress);
