/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* What the kernel did not sample (sampler/recording.h: struct recording_refusals). */
struct record_refusals {
	int64_t cpu_ns;
	bool are_resumed;
	size_t programs;
	const char *name; /* borrowed; "": not known */
};

/* The summary of a recording, which is printed at its end. */
struct record_summary {
	const struct profile *profile;
	int64_t duration_ns;     /* of the recording */
	int64_t recorder_cpu_ns; /* CPU time of the recorder while it recorded */
	int64_t naming_ns;       /* time from the end of the recording until the file was written */
	const char *path;
	uint64_t file_bytes;
	bool may_wait;                /* it may be worth to look at what the target waited for */
	bool no_names;                /* nothing was to be named: what has no name is no news */
	const struct buffer *sources; /* borrowed: a line about the source text that was kept; NULL: none */
	struct record_refusals refusals;
	double answer_us; /* how long answers to the harness of benchmarks took, the median; 0: there were none */
	/* Finds the package with the debug symbols of a file (symbolize/debug_package.h); NULL: nobody knows. */
	bool (*package_of)(const char *path, char *package, size_t size);
};

/*
 * Appends "1,203 samples in 10.0 s, 0 lost, 99.2 % whole stacks", why the other stacks are cut, the path of the file,
 * and "12 benchmarks of pytest-codspeed 5.0.4: 3,214 rounds; answers took 21 µs (median)" where there are any.
 */
void render_record_summary(const struct record_summary *summary, struct buffer *text);

/* Appends "wrote before.pb.gz (14.2 kB)", without a line end; "-" is standard output. */
void render_append_written(struct buffer *text, const char *path, uint64_t bytes);
