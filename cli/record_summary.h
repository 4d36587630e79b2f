/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/naming.h"

/* The summary of a recording, which is printed at its end. */
struct record_summary {
	const struct profile *profile;
	int64_t duration_ns;     /* of the recording */
	int64_t recorder_cpu_ns; /* CPU time of the recorder while it recorded */
	int64_t naming_ns;       /* time from the end of the recording until the file was written */
	const char *path;
	uint64_t file_bytes;
	bool may_wait; /* it may be worth to look at what the target waited for */
	bool no_names; /* nothing was to be named: what has no name is no news */
	struct symbolize_kept_sources sources;
	const struct recording_refusals *refusals; /* borrowed */
	double answer_us; /* how long answers to the harness of benchmarks took, the median; 0: there were none */
};

/*
 * Prints "1,203 samples in 10.0 s, 0 lost, 99.2 % whole stacks", why the other stacks are cut, the path of the file,
 * and "12 benchmarks of pytest-codspeed 5.0.4: 3,214 rounds; answers took 21 µs (median)" where there are any.
 */
void record_summary_print(const struct record_summary *summary);
