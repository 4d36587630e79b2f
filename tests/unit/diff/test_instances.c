/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/profile.h"

#include <string.h>

enum { INSTANCES = 12 };

/*
 * Ten seconds of each instance, most of it in `parse`; what they take differs by a hundredth or so. `slow` takes so
 * many times as much in `checkout`; INSTANCES: none does.
 */
static struct profile *fleet(size_t slow, int times)
{
	struct synthetic s = synthetic_create();
	char name[32];

	for (size_t i = 0; i < INSTANCES; i++) {
		synthetic_run(&s, false, 10000);
		snprintf(name, sizeof(name), "api-%zu", i);
		s.profile->runs[i].instance = profile_id(s.profile, name);
		synthetic_add(&s, synthetic_stack(&s, "main;parse"), 3000 + (int64_t)(i * 7 % 5) * 20, -1);
		synthetic_add(&s, synthetic_stack(&s, "main;checkout"), 1000 * (i == slow ? times : 1), -1);
	}
	return synthetic_finish(&s);
}

/* The first `other` instances ran on another CPU, on which they take `percent` of the time. */
static struct profile *on_cpus(size_t other, const char *model, const char *other_model, int64_t percent)
{
	struct synthetic s = synthetic_create();

	for (size_t i = 0; i < INSTANCES; i++) {
		synthetic_run(&s, false, 10000);
		s.profile->runs[i].cpu_model = profile_id(s.profile, i < other ? other_model : model);
		synthetic_add(&s, synthetic_stack(&s, "main;parse"),
			(4000 + (int64_t)(i * 7 % 5) * 20) * (i < other ? percent : 100) / 100, -1);
	}
	return synthetic_finish(&s);
}

static const struct diff_warning *warning(const struct diff *diff, const char *words)
{
	for (size_t i = 0; i < diff->warning_count; i++)
		if (strstr(diff_string(diff, diff->warnings[i].text), words))
			return &diff->warnings[i];
	return NULL;
}

static void an_instance_far_from_the_others_is_named_and_counted(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(fleet(INSTANCES, 1), fleet(7, 9), NULL);
	const struct diff_instance *outlier = diff->instances.outliers;
	const struct diff_warning *said = warning(diff, "instances of head");

	assert_int_equal(diff->instances.outlier_count, 1);
	assert_int_equal(diff->instances.per, DIFF_SCALE_RATE);
	assert_true(outlier->side == DIFF_HEAD && outlier->run == 7);
	assert_string_equal(diff_string(diff, outlier->name), "api-7");
	assert_true(outlier->ratio > 2.9 && outlier->ratio < 3.1);
	assert_true(&diff->functions[outlier->function] == synthetic_function(diff, "checkout"));
	assert_true(said && !said->blocks_gate);
	assert_string_equal(diff_string(diff, said->text),
		"1 of the 12 instances of head lies far from the median in CPU time per second: api-7 takes 3.0 times as much (most of the difference in checkout); it is counted like the others");
	assert_true(diff->raw_total[DIFF_HEAD] > diff->raw_total[DIFF_BASE]);
}

static void an_instance_that_takes_less_is_one_too(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(fleet(0, 0), fleet(INSTANCES, 1), NULL);

	/* Without checkout it takes three quarters. */
	assert_int_equal(diff->instances.outlier_count, 1);
	assert_true(diff->instances.outliers->side == DIFF_BASE && diff->instances.outliers->ratio < 0.8);
	assert_non_null(warning(diff, "api-0 takes 0.74 times as much (most of the difference in checkout)"));
}

static void instances_that_are_alike_are_not_named(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(fleet(INSTANCES, 1), fleet(3, 2), NULL);

	/* 1.2 times the median: far by the scatter of the others, but too little to matter. */
	assert_true(diff->instances.outlier_count == 0 || diff->instances.outliers->ratio > 1.25);
	assert_int_equal(diff->instances.cpu_count, 0);
}

static void an_even_mix_of_cpus_is_said_and_blocks_nothing(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(on_cpus(3, "Xeon", "EPYC", 150), on_cpus(3, "Xeon", "EPYC", 150), NULL);
	const struct diff_warning *said = warning(diff, "CPU models");

	assert_true(said && !said->blocks_gate);
	assert_string_equal(diff_string(diff, said->text),
		"instances ran on several CPU models: of base 3 on EPYC, 9 on Xeon; of head 3 on EPYC, 9 on Xeon: the mix hardly differs, and makes no difference to the totals");
	assert_true(diff->instances.cpus[0].cost > 1.25 && diff->instances.cpus[0].cost < 1.4);
}

/* Nothing but the machines differs: of head twice as many are slow. */
static void a_mix_that_differs_blocks_the_gate(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(on_cpus(3, "Xeon", "EPYC", 150), on_cpus(6, "Xeon", "EPYC", 150), NULL);
	const struct diff_warning *said = warning(diff, "CPU models");
	double change = diff->total.head / diff->total.base - 1;

	assert_true(said && said->blocks_gate);
	assert_true(diff->instances.cpu_effect > 0.8 * change && diff->instances.cpu_effect < 1.2 * change);
	assert_non_null(strstr(diff_string(diff, said->text), "this alone makes head's total 1"));
}

static void a_model_of_one_side_alone_is_estimated_by_the_others(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(on_cpus(0, "Xeon", "", 100), on_cpus(2, "Xeon", "EPYC", 150), NULL);
	const struct diff_warning *said = warning(diff, "of base 12 on Xeon; of head 10 on Xeon, 2 on EPYC");

	assert_true(said && said->blocks_gate);
	assert_true(diff->instances.cpu_effect > 0.07 && diff->instances.cpu_effect < 0.1);
}

static void without_a_model_on_both_sides_nothing_is_estimated(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(on_cpus(3, "Xeon", "Xeon Gold", 90), on_cpus(0, "EPYC", "", 100), NULL);
	const struct diff_warning *said = warning(diff, "no model is on both sides");

	assert_true(said && said->blocks_gate);
}

/* One model on each side is a fact of the profiles, which is compared as such. */
static void one_model_is_no_mix(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(on_cpus(0, "Xeon", "", 100), on_cpus(0, "Xeon", "", 100), NULL);

	assert_int_equal(diff->instances.cpu_count, 0);
	assert_null(warning(diff, "CPU model"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instance_far_from_the_others_is_named_and_counted),
		cmocka_unit_test(an_instance_that_takes_less_is_one_too),
		cmocka_unit_test(instances_that_are_alike_are_not_named),
		cmocka_unit_test(an_even_mix_of_cpus_is_said_and_blocks_nothing),
		cmocka_unit_test(a_mix_that_differs_blocks_the_gate),
		cmocka_unit_test(a_model_of_one_side_alone_is_estimated_by_the_others),
		cmocka_unit_test(without_a_model_on_both_sides_nothing_is_estimated),
		cmocka_unit_test(one_model_is_no_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
