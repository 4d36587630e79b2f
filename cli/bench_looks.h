/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/bench_run.h"
#include "diff/suite.h"

/*
 * `bench --benchmarks` stops as soon as every benchmark is decided: proven to differ, or equal within the precision. It
 * looks at the runs made so far after 3, 5, 8, 12, 18, ... pairs, each time after half as many more as there were. Each
 * look costs some of the rate of false alarms (diff_suite_options.look), so there are few.
 */

/* The number of the look that is due after so many pairs of runs, from 1 on; 0: none is. */
unsigned int bench_look_at(uint64_t pairs);

/* The number of the next look, for runs that end after so many pairs, because of a limit. */
unsigned int bench_look_after(uint64_t pairs);

struct bench_look {
	size_t benchmarks, undecided; /* of those that both sides have */
};

/*
 * Looks at `pairs` runs of each side. A process of its own reads the profiles, since a command starts with the peak
 * memory of whoever starts it.
 */
COMMON_MUST_CHECK
bool bench_look(const struct bench_runner *runner, const struct bench_record *const records[DIFF_SIDES], uint64_t pairs,
	const struct diff_suite_options *options, struct bench_look *look, struct error *err);
