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

static void sums_are_those_of_the_diff(void **state)
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
	assert_true(units->sample_weight == ms);
	assert_true(diff->total.head == 1000 * ms && units->diff->total.head == diff->total.head);
	/* Recursion counts once. */
	assert_true(units->diff->functions[function_of(units, "f")].raw_total[DIFF_HEAD] == 1000 * ms);
	assert_false(units->counts_requests);
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

static void requests_that_were_counted_are_told(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_runs("main;serve 100\n", 3);
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *units = NULL;
	struct error err;
	uint32_t id;

	profile->requests.source = PROFILE_WORK_STATED;
	for (uint32_t run = 0; run < 3; run++) {
		const struct profile_exchanges exchanges = { .run = run, .count = 100 + run };

		assert_true(profile_add_exchanges(profile, &exchanges, &id, &err));
	}
	assert_true(profile_finish(profile, &err));
	units = units_of(profile);
	assert_true(units->counts_requests);
	assert_true(units->diff->requests[DIFF_HEAD].count == 303);
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
		cmocka_unit_test(sums_are_those_of_the_diff),
		cmocka_unit_test(a_fingerprint_is_that_of_the_only_piece),
		cmocka_unit_test(requests_that_were_counted_are_told),
		cmocka_unit_test(a_metric_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
