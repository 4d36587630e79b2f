/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a comparison of suites in its steps, and frees it. */
#include "diff/suite.h"

#include "diff/probability/probability.h"
#include "diff/suite/work.h"

#include <stdlib.h>

static const size_t max_string_bytes = (size_t)1 << 30;
static const double default_precision = 0.01;

static void suite_work_deinit(struct suite_work *work)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(work->sides[side].values);
		free(work->sides[side].firsts);
		free(work->sides[side].run_cpu);
		free(work->sides[side].run_samples);
		free(work->sides[side].layout_of);
	}
	free(work->uncounted);
	free(work->proven);
	free(work->relinked);
}

void diff_suite_destroy(struct diff_suite *suite)
{
	if (!suite)
		return;
	for (int side = 0; suite->details && side < DIFF_SIDES; side++) {
		free(suite->details->benchmarks[side]);
		free(suite->details->executions[side]);
	}
	free(suite->details);
	free(suite->benchmarks);
	free(suite->warnings);
	string_table_destroy(suite->strings);
	free(suite);
}

static void suite_init(struct diff_suite *suite, const struct profile *base, const struct profile *head,
	const struct diff_suite_options *options)
{
	suite->sides = base ? DIFF_SIDES : 1;
	suite->profiles[DIFF_BASE] = base;
	suite->profiles[DIFF_HEAD] = head;
	if (options)
		suite->options = *options;
	if (!(suite->options.diff.q > 0))
		suite->options.diff.q = step_up_default_q;
	if (!(suite->options.precision > 0))
		suite->options.precision = default_precision;
	suite->details = memory_zeroed(1, sizeof(*suite->details));
	suite->strings = string_table_begin(max_string_bytes);
}

bool diff_suite_create(const struct profile *base, const struct profile *head, const struct diff_suite_options *options,
	struct diff_suite **suite, struct error *err)
{
	CLEANUP(diff_suite_cleanup) struct diff_suite *made = memory_zeroed(1, sizeof(*made));
	CLEANUP(suite_work_deinit) struct suite_work work = { .suite = made };

	suite_init(made, base, head, options);
	if (!suite_pair(&work, err) || !suite_collect(&work, err))
		return false;
	suite_name(made);
	suite_compare_code(&work);
	suite_judge(&work);
	if (!suite_warn(&work, err) || !suite_decide(&work, err))
		return false;
	*suite = TAKE(made);
	return true;
}
