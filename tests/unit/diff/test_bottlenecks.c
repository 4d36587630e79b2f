/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"

#include "profile/cost_model.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* What a simulation counted in a stack. */
struct cost {
	const char *stack;
	int64_t instructions, first_misses, last_misses, system_ns;
};

enum { RUNS = 3, MAX_COSTS = 4 };

/* Several equal runs. A stack of NULL ends the costs. */
static struct profile *simulation(const struct cost costs[MAX_COSTS])
{
	struct synthetic made = { .thread = PROFILE_NONE };
	struct error err;

	assert_true(profile_create(&made.profile, &err));
	assert_true(profile_add_value_type(made.profile, COST_MODEL_CYCLES, "count", &err));
	assert_true(profile_add_value_type(made.profile, COST_MODEL_INSTRUCTIONS, "count", &err));
	assert_true(profile_add_value_type(made.profile, COST_MODEL_FIRST_MISSES, "count", &err));
	assert_true(profile_add_value_type(made.profile, COST_MODEL_LAST_MISSES, "count", &err));
	assert_true(profile_add_value_type(made.profile, COST_MODEL_SYSTEM, "nanoseconds", &err));
	made.profile->default_value_type = 1;
	for (uint32_t i = 0; i < made.profile->value_type_count; i++)
		made.profile->counts_of[i] = PROFILE_NONE;
	made.profile->period = 1;
	made.profile->period_type = made.profile->value_types[2];
	for (int run = 0; run < RUNS; run++) {
		synthetic_run(&made, true, 1000);
		for (size_t i = 0; i < MAX_COSTS && costs[i].stack; i++) {
			const struct cost *c = &costs[i];
			int64_t cycles = cost_model_cycles(
				c->instructions * COST_MODEL_QUARTERS, c->first_misses, c->last_misses, 0);
			int64_t values[] = { 0, cycles, c->instructions, c->first_misses, c->last_misses,
				c->system_ns };

			assert_true(profile_add_sample(
				made.profile, synthetic_stack(&made, c->stack), made.thread, values, -1, &err));
		}
	}
	return synthetic_finish(&made);
}

static const struct cost base_costs[MAX_COSTS] = {
	{ "main;compute", 200000000, 0, 0, 0 },
	{ "main;chase", 1000000, 100000, 100000, 0 },
	{ "main;walk;compute", 2000000, 500000, 0, 0 },
};
static const struct cost head_costs[MAX_COSTS] = {
	{ "main;compute", 200000000, 0, 0, 0 },
	{ "main;chase", 1000000, 400000, 400000, 0 },
	{ "main;walk;compute", 2000000, 500000, 0, 0 },
	{ "main;write", 10000, 0, 0, 1000000 },
};

static void a_function_and_its_places_have_classes(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = simulation(base_costs);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;
	const struct diff_function *compute;
	size_t of_cache = 0;

	assert_true(diff_create_single(profile, NULL, &diff, &err));
	assert_true(diff->has_bottlenecks);
	compute = synthetic_function(diff, "compute");
	assert_int_equal(diff_function_bottleneck(diff, compute).side[DIFF_HEAD], PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(diff_function_bottleneck(diff, compute).change, PROFILE_BOTTLENECK_NONE);
	assert_int_equal(diff_function_bottleneck(diff, synthetic_function(diff, "chase")).side[DIFF_HEAD],
		PROFILE_BOTTLENECK_MEMORY);
	/* It has no cost of its own. */
	assert_int_equal(diff_function_bottleneck(diff, synthetic_function(diff, "walk")).side[DIFF_HEAD],
		PROFILE_BOTTLENECK_NONE);
	/* In one of its places, the function is another case. */
	for (uint32_t node = 0; node < diff->node_count; node++)
		of_cache += diff_node_bottleneck(diff, node).side[DIFF_HEAD] == PROFILE_BOTTLENECK_CACHE;
	assert_int_equal(of_cache, 1);
}

static struct diff *compare(const char *metric)
{
	struct diff_options options = { .scale = DIFF_SCALE_PER_RUN, .metric = metric };

	return synthetic_compare(simulation(base_costs), simulation(head_costs), &options);
}

static void a_change_has_a_class_and_a_sentence(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare(NULL);
	const struct diff_function *chase = synthetic_function(diff, "chase");

	assert_int_equal(diff_function_bottleneck(diff, chase).side[DIFF_BASE], PROFILE_BOTTLENECK_MEMORY);
	assert_int_equal(diff_function_bottleneck(diff, chase).side[DIFF_HEAD], PROFILE_BOTTLENECK_MEMORY);
	assert_int_equal(diff_function_bottleneck(diff, chase).change, PROFILE_BOTTLENECK_MEMORY);
	assert_string_equal(diff_cause(diff, chase), "memory accesses");
	assert_string_equal(diff_cause(diff, synthetic_function(diff, "compute")), "");
	if (!strstr(diff_string(diff, diff->verdict_text), "`chase` itself") ||
		!strstr(diff_string(diff, diff->verdict_text), ": memory accesses"))
		fail_msg("%s", diff_string(diff, diff->verdict_text));
	/* It is new: all of it is the change. */
	assert_int_equal(diff_function_bottleneck(diff, synthetic_function(diff, "write")).side[DIFF_BASE],
		PROFILE_BOTTLENECK_NONE);
	assert_int_equal(
		diff_function_bottleneck(diff, synthetic_function(diff, "write")).change, PROFILE_BOTTLENECK_SYSTEM);
}

/* The parts are those of the cycles: of another metric they explain nothing, but classes stay. */
static void another_metric_has_no_cause(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare(COST_MODEL_FIRST_MISSES);
	const struct diff_function *chase = synthetic_function(diff, "chase");

	assert_int_equal(diff_function_bottleneck(diff, chase).change, PROFILE_BOTTLENECK_MEMORY);
	assert_string_equal(diff_cause(diff, chase), "");
}

static void other_profiles_have_none(void **state)
{
	CLEANUP(profile_cleanup) struct profile *sampled = synthetic_profile("main;parse 100\n");
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	assert_true(diff_create_single(sampled, NULL, &diff, &err));
	assert_false(diff->has_bottlenecks);
	assert_int_equal(diff_function_bottleneck(diff, &diff->functions[0]).side[DIFF_HEAD], PROFILE_BOTTLENECK_NONE);
	assert_int_equal(diff_node_bottleneck(diff, 0).side[DIFF_HEAD], PROFILE_BOTTLENECK_NONE);
	assert_string_equal(diff_cause(diff, &diff->functions[0]), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_and_its_places_have_classes),
		cmocka_unit_test(a_change_has_a_class_and_a_sentence),
		cmocka_unit_test(another_metric_has_no_cause),
		cmocka_unit_test(other_profiles_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
