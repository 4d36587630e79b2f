/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"
#include "sampler/sampler.h"

/*
 * `bench --benchmarks` stops as soon as every benchmark is decided: proven to differ, or equal within the precision. It
 * looks at the runs made so far now and then (diff_suite_is_look()), and from then on runs those benchmarks only that
 * are not decided.
 */
struct bench_looks {
	struct harness_filtering *filtering; /* owned; NULL: all benchmarks run */
	bool is_whole;                       /* a suite failed without those that are decided */
	bool is_warm;                        /* the first turn is over */
};

/*
 * The first executions of suites are slower, some of JMH's more than twice: files are not in memory, and processors not
 * at their frequency. They are warm-up, which this says of the first turn, once.
 */
static inline bool bench_looks_warm_up(struct bench_looks *looks)
{
	bool was_warm = looks->is_warm;

	looks->is_warm = true;
	return !was_warm;
}

/*
 * Looks at the runs so far. A process of its own reads the profiles, since a command starts with the peak memory of
 * whoever starts it.
 */
COMMON_MUST_CHECK
bool bench_looks_take(struct bench_looks *looks, struct bench_runs *runs, const struct diff_suite_options *options,
	struct error *err);

/* Takes note that a run failed: all benchmarks run from now on. False: they did already. */
bool bench_looks_run_all(struct bench_looks *looks);

/* No benchmarks are left out any more. */
void bench_looks_deinit(struct bench_looks *looks);
