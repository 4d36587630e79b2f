/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/suite.h"

#include <math.h>

/* Judges a suite: its change is that of the benchmark that differs most among those that decide its verdict. */
static bool control_judge_suite(const struct diff_suite_options *options, const struct profile *base,
	const struct profile *again, struct diff_control *control, struct error *err)
{
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	if (!diff_suite_create(base, again, options, &suite, err))
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

bool diff_control_judge(const struct diff_suite_options *options, const struct profile *base,
	const struct profile *again, bool are_suites, struct diff_control *control, struct error *err)
{
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct diff_suite_options plain = *options;
	const struct diff_estimate *total;

	plain.diff.gate_count = 0;
	if (are_suites)
		return control_judge_suite(&plain, base, again, control, err);
	if (!diff_create(base, again, &plain.diff, &diff, err))
		return false;
	total = &diff->total;
	*control = (struct diff_control){ true, diff->verdict, total->delta / total->base, total->ci_low / total->base,
		total->ci_high / total->base };
	return true;
}
