/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* What a value type means, of a profile that says nothing else. */
static const struct {
	const char *type, *unit, *words;
	enum profile_metric_kind kind;
	bool is_cpu_time, is_duration, is_counted;
} cases[] = {
	{ "cpu", "nanoseconds", "CPU time", PROFILE_METRIC_TIME, true, true, false },
	{ "wall", "nanoseconds", "wall-clock time", PROFILE_METRIC_TIME, false, true, false },
	{ "off-cpu", "nanoseconds", "waiting time", PROFILE_METRIC_TIME, false, true, false },
	{ "idle", "nanoseconds", "idle time", PROFILE_METRIC_TIME, false, true, false },
	{ "idle", "count", "idle", PROFILE_METRIC_EVENTS, false, false, true },
	{ "delay", "microseconds", "delay", PROFILE_METRIC_TIME, false, false, false },
	{ "cycles", "count", "cycles", PROFILE_METRIC_TIME, false, false, true },
	{ "page-faults", "count", "page-faults", PROFILE_METRIC_EVENTS, false, false, true },
	{ "alloc_space", "bytes", "alloc_space", PROFILE_METRIC_ALLOCATED, false, false, false },
	{ "inuse_space", "bytes", "inuse_space", PROFILE_METRIC_IN_USE, false, false, false },
	{ "weight", "", "weight", PROFILE_METRIC_OTHER, false, false, false },
};

static void each_type_has_its_meaning(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		struct profile_metric metric;
		struct error err;

		assert_true(profile_create(&profile, &err));
		assert_true(profile_add_value_type(profile, cases[i].type, cases[i].unit, &err));
		metric = profile_metric(profile, 1);
		assert_string_equal(profile_string(profile, metric.type), cases[i].type);
		assert_string_equal(profile_string(profile, metric.unit), cases[i].unit);
		assert_string_equal(metric.words, cases[i].words);
		assert_int_equal(metric.kind, cases[i].kind);
		assert_int_equal(metric.is_cpu_time, cases[i].is_cpu_time);
		assert_int_equal(metric.is_duration, cases[i].is_duration);
		assert_int_equal(metric.is_counted, cases[i].is_counted);
	}
}

/* What was counted one by one, by what the profile says of its period. */
static void exact_counts_are_no_samples(void **state)
{
	static const struct {
		const char *type, *unit, *event;
		int64_t period;
		bool is_exact;
		enum profile_metric_kind kind;
	} exact[] = {
		{ "instructions", "count", "", 1, true, PROFILE_METRIC_EVENTS },
		{ "cycles", "count", "", 1, true, PROFILE_METRIC_TIME },
		{ "ll-misses", "count", "", 1, true, PROFILE_METRIC_EVENTS },
		{ "goroutine", "count", "", 1, true, PROFILE_METRIC_IN_USE },
		{ "connections", "count", "", 1, true, PROFILE_METRIC_IN_USE },
		{ "instructions", "count", "", 1000003, false, PROFILE_METRIC_EVENTS },
		{ "page-faults", "count", "page-faults", 1, false, PROFILE_METRIC_EVENTS },
		{ "contentions", "count", "", 1, false, PROFILE_METRIC_EVENTS },
		{ "cpu", "nanoseconds", "", 1, false, PROFILE_METRIC_TIME },
	};

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		struct profile_metric metric;
		struct error err;

		assert_true(profile_create(&profile, &err));
		assert_true(profile_add_value_type(profile, exact[i].type, exact[i].unit, &err));
		assert_true(profile_intern(profile, exact[i].event, &profile->facts.event, &err));
		profile->period_type = profile->value_types[1];
		profile->period = exact[i].period;
		metric = profile_metric(profile, 1);
		assert_int_equal(metric.is_exact, exact[i].is_exact);
		assert_int_equal(metric.kind, exact[i].kind);
	}
}

/* What an interrupt is late by is a line or two; a processor that notes addresses, and a simulator, are not late. */
static void addresses_are_precise_where_somebody_notes_them(void **state)
{
	static const struct {
		const char *event;
		uint32_t precise_ip;
		bool is_precise;
	} events[] = {
		{ "cpu-clock", 0, false }, { "cycles", 0, false }, { "cycles", 1, false }, { "cycles", 3, true },
		{ "cycles:pp", 0, true }, { "cycles:Pu", 0, true }, { "cycles:p", 0, false }, { "pp", 0, false },
		{ "", 0, true }, /* a simulator's */
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		struct error err;

		assert_true(profile_create(&profile, &err));
		assert_true(profile_add_value_type(profile, "instructions", "count", &err));
		assert_true(profile_intern(profile, events[i].event, &profile->facts.event, &err));
		profile->facts.precise_ip = events[i].precise_ip;
		profile->period_type = profile->value_types[1];
		profile->period = 1;
		assert_int_equal(profile_has_precise_addresses(profile, 1), events[i].is_precise);
	}
}

static void clocks_and_cycles_pass_like_time(void **state)
{
	assert_true(profile_event_is_time("cpu-clock"));
	assert_true(profile_event_is_time("task-clock"));
	assert_true(profile_event_is_time("cycles"));
	assert_true(profile_event_is_time("cpu_core/cycles/"));
	assert_false(profile_event_is_time("instructions"));
	assert_false(profile_event_is_time("page-faults"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_has_its_meaning),
		cmocka_unit_test(exact_counts_are_no_samples),
		cmocka_unit_test(addresses_are_precise_where_somebody_notes_them),
		cmocka_unit_test(clocks_and_cycles_pass_like_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
