/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/harness.h"

/*
 * The files that harnesses leave in CODSPEED_PROFILE_FOLDER: results/<pid>.json, what they measured of each benchmark,
 * and environment-<pid>.json, which compilers and interpreters they were built with or run in. The recorded program
 * writes them, so anything can be in them.
 */

/* Times are of one iteration. */
struct results_stats {
	char *uri; /* owned */
	int32_t pid;
	size_t order; /* of arrival */
	double q1_ns, median_ns, q3_ns, mean_ns, stdev_ns;
	uint64_t rounds;     /* what was planned, with some harnesses */
	uint64_t iterations; /* of a round; their mean, rounded down, with harnesses whose rounds differ */
	size_t taken;        /* in the first of equal URIs and pids: how many of them were handed out */
};

struct results {
	struct results_stats *items; /* owned */
	size_t count, capacity;
	struct buffer toolchain; /* terminated by NUL once there is something in it */
	bool is_sorted;
};

void results_init(struct results *results);
void results_deinit(struct results *results);

/*
 * Adds the benchmarks of one file. Those without a URI or with numbers that are none are left out. ERROR_FORMAT: it is
 * no JSON, or has no benchmarks.
 */
COMMON_MUST_CHECK
bool results_add(struct results *results, const void *bytes, size_t size, struct error *err);

/* Adds what a file says of compilers and interpreters. ERROR_FORMAT, as above. */
COMMON_MUST_CHECK
bool results_add_environment(struct results *results, const void *bytes, size_t size, struct error *err);

/* Reads all files below the folder. One that cannot be read is a line in `notices`. */
COMMON_MUST_CHECK
bool results_read(struct results *results, const char *folder, struct buffer *notices, struct error *err);

/*
 * Returns what was measured of a benchmark: of the process `pid` if it wrote about it, else of another one. Where a URI
 * comes more than once, each call gives the next. Borrowed; NULL: nothing was.
 */
const struct results_stats *results_take(struct results *results, const char *uri, int32_t pid);
