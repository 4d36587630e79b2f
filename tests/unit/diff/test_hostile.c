/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_refused(const struct profile *base, const struct profile *head, const struct diff_options *options,
	enum error_code code, const char *says)
{
	struct diff *diff = NULL;
	struct error err = { 0 };

	assert_false(diff_create(base, head, options, &diff, &err));
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, says));
	assert_null(diff);
}

static void an_empty_side_is_named(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *full = synthetic_profile("main 10\n"), *empty = synthetic_profile(""), *bare = NULL;
	struct diff *diff = NULL;
	struct error err;

	assert_true(profile_create(&bare, &err));
	assert_refused(empty, full, NULL, ERROR_EMPTY, "base has no samples");
	assert_refused(full, empty, NULL, ERROR_EMPTY, "head has no samples");
	assert_refused(bare, bare, NULL, ERROR_EMPTY, "base has no");
	assert_false(diff_create_single(empty, NULL, &diff, &err));
	assert_int_equal(err.code, ERROR_EMPTY);
}

static void nothing_in_common_names_both_and_the_next_step(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_profile("main;a 10\n"), *head = synthetic_profile("start!x;b!x 10\n");
	struct error err;

	assert_true(profile_intern(base, "pid 1 (server)", &base->facts.command, &err));
	assert_true(profile_intern(head, "./other", &head->facts.command, &err));
	assert_refused(base, head, NULL, ERROR_EMPTY, "pid 1 (server)");
	assert_refused(base, head, NULL, ERROR_EMPTY, "./other");
	assert_refused(base, head, NULL, ERROR_EMPTY, "kelvin report");
}

static void an_unknown_metric_lists_what_there_is(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = synthetic_profile("main 10\n");
	struct diff_options options = { .metric = "cycles" };

	assert_refused(base, base, &options, ERROR_USAGE, "samples, cpu");
	options.metric = "samples";
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, base, &options);

	assert_string_equal(diff_string(diff, diff->unit), "count");
	assert_true(diff->raw_total[DIFF_BASE] == 10);
}

static void odd_profiles_do_not_break_it(void **state)
{
	static const char *const odd[] = { "a 1\n", "a;a;a;a 1\n", "a;b;a;b;a 9000000000\n", "a;!x 5\n",
		"a;b!x#18446744073709551615 3\n" };

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		for (size_t j = 0; j < sizeof(odd) / sizeof(odd[0]); j++) {
			struct profile *base = synthetic_profile(odd[i]), *head = synthetic_runs(odd[j], 3);
			CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

			assert_true(isfinite(diff->scale.factor) && diff->scale.factor > 0);
			assert_true(diff->nodes[0].subtree_end == diff->node_count);
		}
	}
}

/* A run that was recorded but never sampled, and events at the very end of the recording. */
static void empty_runs_and_late_events_count(void **state)
{
	struct synthetic s = synthetic_create();
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	synthetic_run(&s, false, 10000);
	for (int i = 0; i <= 100; i++)
		synthetic_add(&s, synthetic_stack(&s, "main;f"), 3, i * 100.0);
	synthetic_run(&s, false, 0);
	profile = synthetic_finish(&s);
	diff = synthetic_diff(profile, profile, NULL);
	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_RUNS);
	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
	assert_int_equal(diff->evidence.runs[DIFF_HEAD], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_side_is_named),
		cmocka_unit_test(nothing_in_common_names_both_and_the_next_step),
		cmocka_unit_test(an_unknown_metric_lists_what_there_is),
		cmocka_unit_test(odd_profiles_do_not_break_it),
		cmocka_unit_test(empty_runs_and_late_events_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
