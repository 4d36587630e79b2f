/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/labels.h"
#include "sampler/sampler.h"

/* The options of `kelvin watch`. */
struct watch_options {
	struct watch_wish wish;
	const char *output; /* the directory */
	const char *push;   /* address of a store; NULL: none */
	double every_s, duration_s, settle_s;
	struct watch_bounds bounds;
	struct labels labels;
	bool quiet; /* says errors alone, and the lines of deploys */
};

/* Watches until a signal ends it. Returns the program's exit code. */
int watch_run(const struct watch_options *options);
