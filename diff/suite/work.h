/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/suite.h"

/*
 * The state that the steps of a comparison of suites share. create.c runs them in order: pair.c finds the benchmarks
 * of both sides, roots.c their checkouts, values.c collects what executions took, names.c shortens URIs, judge.c tests,
 * environment.c warns, verdict.c decides and says it.
 */

/* The cost of a benchmark in one execution. */
struct suite_value {
	uint32_t benchmark;
	uint32_t execution; /* counted from 0 within the side */
	double value;       /* in the suite's unit; NAN: not known */
	/* relative standard error of the value from what was seen within the execution: rounds, or numbers of samples
	 */
	double error;
	/* CPU time of an iteration, and its relative standard error by the number of samples; 0: not known */
	double cpu, cpu_error;
	double weight; /* iterations, or rounds or phases where these are not known */
};

struct suite_side {
	const struct profile *profile;
	size_t executions;
	struct suite_value *values; /* owned: by benchmark, then execution; one for each of both */
	size_t value_count;
	size_t *firsts;                /* owned: [benchmark, and one more] index in `values` of its first */
	double *run_cpu, *run_samples; /* owned: [run] CPU time in nanoseconds, and the samples that it is of */
	/* CPU time of all benchmarks in parts of the time that was recorded; as diff_benchmark.cpu_share */
	double cpu_share;
	size_t layouts;      /* that its executions tell; less than 2: executions are the units */
	uint32_t *layout_of; /* owned: [execution] counted from 0 */
};

struct suite_work {
	struct diff_suite *suite; /* borrowed */
	struct suite_side sides[DIFF_SIDES];
	uint32_t metric[DIFF_SIDES]; /* value type that is summed up where harnesses did not measure */
	uint32_t counts[DIFF_SIDES]; /* value type that counts its samples; PROFILE_NONE: none does */
	bool *uncounted;             /* owned: [benchmark] of some of its runs neither iterations nor rounds count */
	size_t unmeasured;           /* benchmarks of which no time per iteration is known, in a suite that has such */
	bool *proven;                /* owned: [benchmark] base and head are proven to differ */
	bool *relinked; /* owned: [benchmark] most of its time is in files that are others in base and head */
};

/* Returns how often a run did what the values of its benchmark are of; 0: not known. */
static inline uint64_t suite_times(const struct diff_suite *suite, uint32_t benchmark, const struct profile_run *run)
{
	return suite->benchmarks[benchmark].by_rounds ? run->measured.rounds : run->measured.iterations;
}

struct diff_suite_private {
	uint32_t *benchmarks[DIFF_SIDES]; /* owned: [run] its benchmark; PROFILE_NONE: the run is an execution */
	uint32_t *executions[DIFF_SIDES]; /* owned: [run] its execution, counted from 0 */
	size_t proven, tested;            /* benchmarks */
};

/* ---- The steps ---- */

/*
 * Finds the benchmarks of both sides: fills benchmarks (uri, presence), executions and the private part. ERROR_EMPTY: a
 * side has no benchmarks.
 */
COMMON_MUST_CHECK
bool suite_pair(struct suite_work *work, struct error *err);

/* Fills suite.roots where benchmarks of both sides are called alike in files of the same name. */
void suite_find_roots(struct suite_work *work);

/* Returns how many bytes of a benchmark's URI are the root of its side; 0: it lies outside. */
size_t suite_root_bytes(const struct diff_suite *suite, enum diff_side side, const char *uri);

/*
 * Collects what benchmarks took in each execution: fills value, executions, rounds, iterations and by_rounds of
 * each, metric, is_measured and is_exact.
 */
COMMON_MUST_CHECK
bool suite_collect(struct suite_work *work, struct error *err);

/* Fills diff_benchmark.code, and work.relinked. */
void suite_compare_code(struct suite_work *work);

/* Fills diff_benchmark.name. */
void suite_name(struct diff_suite *suite);

/* Tests the benchmarks that both sides have: fills change, p, q, their verdicts, common, proven and tested. */
void suite_judge(struct suite_work *work);

/* Fills the warnings. Needs the verdicts. */
COMMON_MUST_CHECK
bool suite_warn(const struct suite_work *work, struct error *err);

/*
 * Appends the change: "by 12.3 % (95 % interval 9.8 to 14.9 %)", "8.90 times (95 % interval 8.71 to 9.10 times)", "by
 * 12.3 % (exact)".
 */
void suite_append_change(const struct diff_suite *suite, const struct diff_benchmark *benchmark, struct buffer *out);

/* Appends what benchmarks do more or less of: "are slower", "take more CPU time", "need fewer instructions". */
void suite_append_effect(const struct diff_suite *suite, bool more, size_t count, struct buffer *out);

/*
 * Gives the diff of a benchmark, or of all together, the verdict of the suite on it, in a sentence that names the
 * function and the line that explain it: figures of a benchmark are those of its harness, wherever they are read. What
 * --fail-on limits said of functions stays.
 */
COMMON_MUST_CHECK
bool suite_say_benchmark(const struct diff_suite *suite, uint32_t benchmark,
	const struct profile *const profiles[DIFF_SIDES], struct diff *diff, struct error *err);

/* Orders the benchmarks, counts verdicts, and decides and words that of the suite. */
COMMON_MUST_CHECK
bool suite_decide(struct suite_work *work, struct error *err);
