/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/naming.h"
#include "sampler/sampler.h"

/* One recording from the target to the file. */
struct recording {
	struct sampler_options sampler;
	struct naming naming;
	const char *output;
	double duration_s;    /* 0: until the target ends or a signal comes */
	uint64_t delay_ms;    /* from the start until sampling is switched on */
	bool starts_disabled; /* -D -1: until --control switches it on */
	const char *control;  /* of --control; NULL: none */
	bool quiet;
	uint64_t runs;          /* of a command, one after the other, into one profile; 0 counts as 1 */
	struct profile *merged; /* of several: the runs so far; owned by recording_run() */
	int64_t cpu_ns;         /* what the recorder used while recording, for all runs */
	int64_t naming_ns;      /* from the last sample to the file, likewise */
	uint64_t file_bytes;
};

/* Returns the program's exit code. */
int recording_run(struct recording *recording);
