/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/suite.h"

#include <gsl/gsl_rng.h>

/*
 * Recordings of suites that never were. Benchmarks vary between processes by standard deviations of their own; an
 * execution is slow or fast as a whole; rounds scatter, and resemble the one before.
 */
enum { SUITES_MAX_BENCHMARKS = 10000 };

struct suites {
	gsl_rng *rng; /* owned */
	size_t benchmarks;
	double least_rsd, most_rsd; /* of benchmarks between processes; log-uniform between these */
	double speed_rsd;           /* of executions as a whole */
	double round_rsd;           /* of rounds within a process */
	const bool *left_out;       /* [benchmark] borrowed: it does not run; NULL: all do */
	double bursts;              /* how many of the values are 2 to 10 % too large, as on a busy machine */
};

struct suites suites_create(unsigned long seed, size_t benchmarks);
void suites_deinit(struct suites *suites);

/* The spreads of each benchmark, drawn anew: those of base and head are the same. */
void suites_draw_rsds(struct suites *suites, double *rsds);

/* `executions` of the suite. Benchmark `changed` takes `times` as long. */
struct profile *suites_record(
	struct suites *suites, const double *rsds, size_t executions, size_t changed, double times);

/* Compares, fails the test with the message when that fails. */
struct diff_suite *suites_compare(
	const struct profile *base, const struct profile *head, const struct diff_suite_options *options);

/* Fails the test unless the verdict has these words. */
void suites_assert_says(const struct diff_suite *suite, const char *words);

/* Fails the test unless they are equal but for rounding. */
void suites_assert_near(double value, double expected);

/* The benchmark of that name; fails the test if there is none. */
const struct diff_benchmark *suites_find(const struct diff_suite *suite, const char *name);

/* Made by hand: an empty profile, executions, and benchmarks with a time of an iteration. */
struct profile *suites_profile(void);
void suites_add_execution(struct profile *profile);
uint32_t suites_add(struct profile *profile, const char *uri, double median_ns, uint64_t iterations);

/* A sample of CPU time (or of another value type 1) of a run, with its stack: "main;parse@12", lines behind "@". */
void suites_add_sample(struct profile *profile, uint32_t run, const char *stack, int64_t count, int64_t value);
