/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/function_units.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static const double ms = SYNTHETIC_SAMPLE_NS;

static struct diff_function_units *units_of(const struct profile *profile)
{
	struct diff_function_units *units;
	struct error err;

	if (!diff_function_units_create(profile, NULL, &units, &err))
		fail_msg("%s", err.message);
	return units;
}

static size_t function_of(const struct diff_function_units *units, const char *name)
{
	return (size_t)(synthetic_function(units->diff, name) - units->diff->functions);
}

static double sum(const double *values, size_t count)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += values[i];
	return all;
}

static void runs_are_units_where_there_are_three(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_runs("main;parse 3\nmain;write 5\n", 4);
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *units = units_of(profile);
	size_t parse = function_of(units, "parse"), whole = function_of(units, "main");

	assert_true(units->are_runs);
	assert_int_equal(units->count, 4);
	assert_null(units->work);
	assert_true(units->sample_weight == ms);
	for (size_t i = 0; i < 4; i++) {
		assert_true(units->whole[i] == 8 * ms);
		assert_true(units->self[parse * 4 + i] == 3 * ms && units->total[parse * 4 + i] == 3 * ms);
		assert_true(units->self[whole * 4 + i] == 0 && units->total[whole * 4 + i] == 8 * ms);
	}
}

static void a_run_without_time_is_one_unit(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_runs("main;parse 6\n", 1);
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *units = units_of(profile);

	assert_false(units->are_runs);
	assert_int_equal(units->count, 1);
	assert_true(units->self[function_of(units, "parse")] == 6 * ms);
}

static void blocks_of_time_add_up_to_the_diff(void **state)
{
	struct synthetic synthetic = synthetic_create();
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *units = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;
	uint32_t stack;

	synthetic_run(&synthetic, false, 10000);
	stack = synthetic_stack(&synthetic, "main;f;g;f");
	for (int i = 0; i < 1000; i++)
		synthetic_add(&synthetic, stack, 1, i < 500 ? i : 5000 + i);
	stack = synthetic_stack(&synthetic, "main;asm_common_interrupt!kernel;tick!kernel");
	for (int i = 0; i < 100; i++)
		synthetic_add(&synthetic, stack, 1, 100 * i);
	profile = synthetic_finish(&synthetic);
	units = units_of(profile);
	assert_true(diff_create_single(profile, NULL, &diff, &err));
	assert_int_equal(units->count, 40);
	assert_true(sum(units->whole, 40) == 1000 * ms && diff->total.head == 1000 * ms);
	assert_true(units->diff->total.head == diff->total.head);
	for (size_t i = 0; i < units->diff->function_count; i++) {
		const struct diff_function *f = &units->diff->functions[i];
		double total = f->interrupt ? 0 : f->raw_total[DIFF_HEAD],
		       self = f->interrupt ? 0 : f->raw_self[DIFF_HEAD];

		assert_true(sum(units->total + i * 40, 40) == total && sum(units->self + i * 40, 40) == self);
	}
	/* A block is 250 ms; recursion counts once. */
	assert_true(units->total[function_of(units, "f") * 40] == 250 * ms);
	assert_true(units->total[function_of(units, "f") * 40 + 10] == 0);
}

static void a_fingerprint_is_that_of_the_only_piece(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = synthetic_profile("main#5;split#7 3\nmain#5;split#8~split.cold 5\nmain#5;plain 2\n");
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *units = units_of(profile);

	assert_int_equal(units->fingerprint[function_of(units, "main")], 5);
	assert_int_equal(units->fingerprint[function_of(units, "split")], 0);
	assert_int_equal(units->fingerprint[function_of(units, "plain")], 0);
}

static void requests_are_counted_in_each_unit(void **state)
{
	struct profile *profile = synthetic_runs("main;serve 100\n", 3);
	struct diff_function_units *units;
	struct error err;
	uint32_t id;

	profile->requests.source = PROFILE_WORK_STATED;
	for (uint32_t run = 0; run < 3; run++) {
		const struct profile_exchanges exchanges = { .run = run, .count = 100 + run };

		assert_true(profile_add_exchanges(profile, &exchanges, &id, &err));
	}
	assert_true(profile_finish(profile, &err));
	units = units_of(profile);
	assert_non_null(units->work);
	for (uint32_t run = 0; run < 3; run++)
		assert_true(units->work[run] == 100 + run);
	diff_function_units_destroy(units);
	profile_destroy(profile);
}

static void a_metric_that_is_not_there_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_profile("main 3\n");
	const struct diff_options options = { .metric = "wall" };
	struct diff_function_units *units;
	struct error err;

	assert_false(diff_function_units_create(profile, &options, &units, &err));
	assert_int_equal(err.code, ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_units_where_there_are_three),
		cmocka_unit_test(a_run_without_time_is_one_unit),
		cmocka_unit_test(blocks_of_time_add_up_to_the_diff),
		cmocka_unit_test(a_fingerprint_is_that_of_the_only_piece),
		cmocka_unit_test(requests_are_counted_in_each_unit),
		cmocka_unit_test(a_metric_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
