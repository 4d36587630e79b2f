/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

/* Value types of a simulation, in the order of `values`. */
enum { CYCLES = 1, FIRST_MISSES, LAST_MISSES, SYSTEM, VALUES };

static struct profile *simulated(uint32_t value_types)
{
	static const char *const types[][2] = { [CYCLES] = { COST_MODEL_CYCLES, "count" },
		[FIRST_MISSES] = { COST_MODEL_FIRST_MISSES, "count" },
		[LAST_MISSES] = { COST_MODEL_LAST_MISSES, "count" },
		[SYSTEM] = { COST_MODEL_SYSTEM, "nanoseconds" } };
	struct profile *profile;
	struct error err;

	assert_true(profile_create(&profile, &err));
	for (uint32_t i = 1; i < value_types; i++)
		assert_true(profile_add_value_type(profile, types[i][0], types[i][1], &err));
	return profile;
}

static enum profile_bottleneck bottleneck_of(int64_t cycles, int64_t first, int64_t last, int64_t system_ns)
{
	CLEANUP(profile_cleanup) struct profile *profile = simulated(VALUES);
	struct profile_cost_columns columns = profile_cost_columns(profile);
	int64_t values[VALUES] = { 0, cycles, first, last, system_ns };
	struct profile_cost cost = { 0 };

	assert_true(columns.is_there);
	assert_int_equal(columns.metric, CYCLES);
	profile_cost_add(&columns, values, &cost);
	return profile_bottleneck_of(&cost, columns.least_samples);
}

/* Of a recording with counters: what a function of so many samples is held up by. */
static enum profile_bottleneck counted(const char *all, const char *unit, int64_t samples, int64_t whole, int64_t cache,
	int64_t memory, int64_t system)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	const char *const names[] = { all, COUNTER_COST_CACHE, COUNTER_COST_MEMORY, COUNTER_COST_SYSTEM };
	const int64_t values[] = { samples, whole, cache, memory, system };
	struct profile_cost cost = { 0 };
	struct profile_cost_columns columns;
	struct error err;

	assert_true(profile_create(&profile, &err));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(profile_add_value_type(profile, names[i], unit, &err));
	columns = profile_cost_columns(profile);
	assert_true(columns.is_there);
	profile_cost_add(&columns, values, &cost);
	return profile_bottleneck_of(&cost, columns.least_samples);
}

static void counters_of_a_processor_tell_of_it_too(void **state)
{
	assert_int_equal(counted("slots", "slots", 60, 1000, 200, 100, 0), PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(counted("slots", "slots", 60, 1000, 100, 700, 0), PROFILE_BOTTLENECK_MEMORY);
	assert_int_equal(counted("cycles", "count", 60, 1000, 600, 100, 0), PROFILE_BOTTLENECK_CACHE);
	assert_int_equal(counted("cycles", "count", 60, 1000, 0, 0, 1000), PROFILE_BOTTLENECK_SYSTEM);
	assert_int_equal(counted("slots", "slots", 40, 1000, 100, 700, 0), PROFILE_BOTTLENECK_NONE);
}

static void the_largest_component_is_the_class(void **state)
{
	assert_int_equal(bottleneck_of(1000, 0, 0, 0), PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(bottleneck_of(100 + 50 * 12, 50, 0, 0), PROFILE_BOTTLENECK_CACHE);
	assert_int_equal(bottleneck_of(100 + 5 * 150, 5, 5, 0), PROFILE_BOTTLENECK_MEMORY);
	assert_int_equal(bottleneck_of(100, 0, 0, 1000), PROFILE_BOTTLENECK_SYSTEM);
	assert_int_equal(bottleneck_of(0, 0, 0, 0), PROFILE_BOTTLENECK_NONE);
}

/* All of a cycle, and no more, is in one of the cost. */
static void components_add_up_to_the_cost(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = simulated(VALUES);
	struct profile_cost_columns columns = profile_cost_columns(profile);
	int64_t values[VALUES] = { 0, cost_model_cycles(4000, 30, 10, 0), 30, 10, 100 };
	struct profile_cost cost = { 0 };

	profile_cost_add(&columns, values, &cost);
	assert_true(cost.of[PROFILE_BOTTLENECK_INSTRUCTION] == 1000);
	assert_true(cost.of[PROFILE_BOTTLENECK_CACHE] == 20 * COST_MODEL_FIRST_MISS_CYCLES);
	assert_true(cost.of[PROFILE_BOTTLENECK_MEMORY] == 10 * COST_MODEL_LAST_MISS_CYCLES);
	assert_true(cost.of[PROFILE_BOTTLENECK_SYSTEM] == 100 * COST_MODEL_SYSTEM_GHZ);
	assert_true(profile_cost_sum(&cost) == (double)(values[CYCLES] + 100 * COST_MODEL_SYSTEM_GHZ));
}

static struct profile_cost cost_of(double instruction, double cache, double memory, double system)
{
	return (struct profile_cost){ .of = { 0, instruction, cache, memory, system } };
}

static enum profile_bottleneck class_of(double instruction, double cache, double memory, double system)
{
	struct profile_cost cost = cost_of(instruction, cache, memory, system);

	return profile_bottleneck_of(&cost, 0);
}

static void a_component_that_does_not_lead_is_mixed(void **state)
{
	assert_int_equal(class_of(60, 50, 0, 0), PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(class_of(59, 50, 0, 0), PROFILE_BOTTLENECK_MIXED);
	assert_int_equal(class_of(40, 20, 20, 20), PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(class_of(39, 20.5, 20.5, 20), PROFILE_BOTTLENECK_MIXED);
	/* What rounding leaves below 0 is nothing. */
	assert_int_equal(class_of(-5, 0, 0, 10), PROFILE_BOTTLENECK_SYSTEM);
	assert_int_equal(class_of(-5, 0, 0, 0), PROFILE_BOTTLENECK_NONE);
}

static void a_change_is_of_the_component_that_changed_most(void **state)
{
	struct profile_cost base = cost_of(1000, 100, 0, 0), head = cost_of(1000, 400, 0, 0),
			    both = cost_of(900, 500, 0, 0), none = { 0 };

	assert_int_equal(profile_bottleneck_of_change(&base, &head, 0), PROFILE_BOTTLENECK_CACHE);
	assert_int_equal(profile_bottleneck_of_change(&head, &base, 0), PROFILE_BOTTLENECK_CACHE);
	/* It grew although its instructions are fewer. */
	assert_int_equal(profile_bottleneck_of_change(&base, &both, 0), PROFILE_BOTTLENECK_CACHE);
	assert_int_equal(profile_bottleneck_of_change(&base, &base, 0), PROFILE_BOTTLENECK_NONE);
	assert_int_equal(profile_bottleneck_of_change(&none, &base, 0), PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(profile_bottleneck_of_change(&base, &none, 0), PROFILE_BOTTLENECK_INSTRUCTION);
}

static void few_samples_have_no_class(void **state)
{
	struct profile_cost few = { .of = { 0, 10 }, .samples = 49 }, enough = { .of = { 0, 20 }, .samples = 50 },
			    none = { 0 };

	assert_int_equal(profile_bottleneck_of(&few, 50), PROFILE_BOTTLENECK_NONE);
	assert_int_equal(profile_bottleneck_of(&enough, 50), PROFILE_BOTTLENECK_INSTRUCTION);
	assert_int_equal(profile_bottleneck_of_change(&few, &enough, 50), PROFILE_BOTTLENECK_NONE);
	/* That a side has nothing is known. */
	assert_int_equal(profile_bottleneck_of_change(&none, &enough, 50), PROFILE_BOTTLENECK_INSTRUCTION);
}

static void other_profiles_tell_nothing(void **state)
{
	for (uint32_t types = 1; types < VALUES; types++) {
		CLEANUP(profile_cleanup) struct profile *profile = simulated(types);

		assert_false(profile_cost_columns(profile).is_there);
	}
}

static void classes_have_words(void **state)
{
	assert_string_equal(profile_bottleneck_name(PROFILE_BOTTLENECK_NONE), "");
	assert_string_equal(profile_bottleneck_name(PROFILE_BOTTLENECK_MIXED), "mixed");
	assert_string_equal(profile_bottleneck_cause(PROFILE_BOTTLENECK_CACHE), "cache misses");
	assert_string_equal(profile_bottleneck_cause(PROFILE_BOTTLENECK_MIXED), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_component_is_the_class),
		cmocka_unit_test(counters_of_a_processor_tell_of_it_too),
		cmocka_unit_test(components_add_up_to_the_cost),
		cmocka_unit_test(a_component_that_does_not_lead_is_mixed),
		cmocka_unit_test(a_change_is_of_the_component_that_changed_most),
		cmocka_unit_test(few_samples_have_no_class),
		cmocka_unit_test(other_profiles_tell_nothing),
		cmocka_unit_test(classes_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
