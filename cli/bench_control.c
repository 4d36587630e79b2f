/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/bench_control.h"

#include <math.h>

/* Judges a suite: its change is that of the benchmark that differs most among those that decide its verdict. */
static bool judge_suite(const struct comparison *comparison, const struct profile *base, const struct profile *again,
	struct diff_control *control, struct error *err)
{
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct diff_suite_options options = comparison_suite_options(comparison, false);

	options.diff.gate_count = 0;
	if (!diff_suite_create(base, again, &options, &suite, err))
		return false;
	*control = (struct diff_control){ true, suite->verdict, NAN, NAN, NAN };
	/* They stand in the order in which they should be read. */
	if (suite->benchmark_count > 0) {
		control->change = suite->benchmarks[0].change;
		control->change_low = suite->benchmarks[0].change_low;
		control->change_high = suite->benchmarks[0].change_high;
	}
	return true;
}

bool bench_control_judge(const struct comparison *comparison, const struct profile *base, const struct profile *again,
	bool are_suites, struct diff_control *control, struct error *err)
{
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct diff_options options = comparison->diff;
	const struct diff_estimate *total;

	if (are_suites)
		return judge_suite(comparison, base, again, control, err);
	options.gate_count = 0;
	if (!diff_create(base, again, &options, &diff, err))
		return false;
	total = &diff->total;
	*control = (struct diff_control){ true, diff->verdict, total->delta / total->base, total->ci_low / total->base,
		total->ci_high / total->base };
	return true;
}
