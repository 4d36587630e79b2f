/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/suite.h"

/*
 * Members of the documents of a diff and of one profile (docs/json.md). Each function appends a member of the object
 * that is open, null where nothing is known of it.
 */

/* Figures of whole runs of commands; runs as instances: outliers and CPU models. */
void json_runs(const struct render_input *input, struct buffer *out);
void json_instances(const struct render_input *input, struct buffer *out);

/* The amount of work that a side did; whether answers took longer; the function that a verdict names. */
void json_requests(const struct render_input *input, enum diff_side side, struct buffer *out);
void json_latency(const struct diff *diff, struct buffer *out);
void json_cause(const struct diff *diff, struct buffer *out);

/* Classes of waits, and locks. */
void json_waits(const struct diff *diff, const struct waits *waits, struct buffer *out);

/* Writes the changes, a line each: functions whose proven differences have one cause are one change. */
void json_changes(const struct diff *diff, struct buffer *out);

/* The benchmarks of a suite, one a line. */
void json_benchmarks(const struct render_suite *input, bool is_time, struct buffer *out);

/* Appends the object of a function of the diff, by its number, in one line. `waits` NULL: there are none. */
void json_function(const struct render_input *input, const struct waits *waits, size_t number, struct buffer *out);

/* Appends the functions with the largest times that ended waits, or of a lock that waited. */
void json_releasers(const struct waits_releaser *functions, size_t function_count, struct buffer *out);

/* A fact as the recording has it. */
void json_fact(const struct profile *profile, const struct profile_fact *fact, struct buffer *out);

/*
 * Writes the document of a diff or of one profile. With a suite, `input` is that of all benchmarks together: the
 * verdict and the warnings are the suite's, and its benchmarks are added. NULL: there is no suite.
 */
COMMON_MUST_CHECK
bool json_document(
	const struct render_input *input, const struct render_suite *suite, struct buffer *out, struct error *err);
