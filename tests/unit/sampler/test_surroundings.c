/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What else there was on a machine, of a made-up /proc and /sys/fs/cgroup. */
#include "sampler/live/surroundings.h"

#include "made_tree_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* The facts between two readings that are a second apart. */
static struct profile_facts facts_between(const struct surroundings *before, const struct surroundings *after)
{
	struct surroundings later = *after;
	struct profile_facts facts = { 0 };

	later.time_ns = before->time_ns + 1000000000;
	surroundings_describe(before, &later, &facts);
	return facts;
}

static void what_was_in_use_is_told_by_two_readings(void **state)
{
	struct surroundings before, after;
	struct profile_facts facts;

	put("stat", "cpu  100 0 100 1000 50 10 10 5 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
	put("pressure/cpu",
		"some avg10=1.00 avg60=0.00 avg300=0.00 total=500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n");
	surroundings_read(made_tree, made_tree, "", &before);
	assert_int_equal(before.busy_ticks, 220);
	put("stat", "cpu  160 0 120 1010 50 12 13 10 0 0\n");
	put("pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=250500\n");
	surroundings_read(made_tree, made_tree, "", &after);
	facts = facts_between(&before, &after);
	assert_int_equal(facts.machine_busy_percent, 85);
	assert_int_equal(facts.machine_steal_percent, 5);
	assert_int_equal(facts.cpu_pressure_percent, 25);
	assert_int_equal(facts.throttled_ms, 0);
}

static void a_control_group_has_its_own(void **state)
{
	struct surroundings before, after;
	struct profile_facts facts;

	put("stat", "cpu  100 0 100 1000 50 10 10\n");
	put("pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=500\n");
	put("g/one/cpu.stat", "usage_usec 9\nnr_throttled 1\nthrottled_usec 1000\n");
	put("g/one/cpu.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=100000\n");
	surroundings_read(made_tree, made_tree, "/g/one", &before);
	put("g/one/cpu.stat", "usage_usec 9\nnr_throttled 9\nthrottled_usec 301000\n");
	put("g/one/cpu.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=500000\n");
	surroundings_read(made_tree, made_tree, "/g/one", &after);
	facts = facts_between(&before, &after);
	assert_int_equal(facts.throttled_ms, 300);
	assert_int_equal(facts.cpu_pressure_percent, 40);
	assert_int_equal(facts.machine_busy_percent, 0);
}

/* Files that are not there, are something else, or whose counters began anew. */
static void what_is_not_known_is_nothing(void **state)
{
	static const char *const stats[] = { "", "cpu", "cpu  1 2", "cpu  x y z", "cpu  -1 -1 -1 -1 -1 -1 -1 -1\n" };
	struct surroundings before, after;
	struct profile_facts facts;

	surroundings_read("/nowhere", "/nowhere", "/g", &before);
	assert_int_equal(before.all_ticks, 0);
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
		put("stat", stats[i]);
		surroundings_read(made_tree, made_tree, "", &after);
		facts = facts_between(&before, &after);
		assert_true(facts.machine_busy_percent <= 100 && facts.machine_steal_percent <= 100);
	}
	put("stat", "cpu  100 0 100 1000 50 10 10 5 0 0\n");
	surroundings_read(made_tree, made_tree, "", &before);
	put("stat", "cpu  1 0 1 10 5 1 1 0 0 0\n");
	surroundings_read(made_tree, made_tree, "", &after);
	facts = facts_between(&before, &after);
	assert_int_equal(facts.machine_busy_percent, 0);
	assert_int_equal(facts.machine_steal_percent, 0);
	assert_int_equal(facts.cpu_pressure_percent, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_in_use_is_told_by_two_readings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_control_group_has_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
