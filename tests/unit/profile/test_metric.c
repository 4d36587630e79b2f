/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* What a value type means, of a profile that says nothing else. */
static const struct {
	const char *type, *unit, *words;
	enum profile_metric_kind kind;
	bool is_cpu_time, is_duration, is_counted;
} cases[] = {
	{ "cpu", "nanoseconds", "CPU time", PROFILE_METRIC_TIME, true, true, false },
	{ "wall", "nanoseconds", "wall", PROFILE_METRIC_TIME, false, true, false },
	{ "delay", "microseconds", "delay", PROFILE_METRIC_TIME, false, false, false },
	{ "cycles", "count", "cycles", PROFILE_METRIC_TIME, false, false, true },
	{ "page-faults", "count", "page-faults", PROFILE_METRIC_EVENTS, false, false, true },
	{ "alloc_space", "bytes", "alloc_space", PROFILE_METRIC_ALLOCATED, false, false, false },
	{ "inuse_space", "bytes", "inuse_space", PROFILE_METRIC_IN_USE, false, false, false },
	{ "weight", "", "weight", PROFILE_METRIC_OTHER, false, false, false },
};

static void each_type_has_its_meaning(void **state)
{
	(void)state;
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

static void clocks_and_cycles_pass_like_time(void **state)
{
	(void)state;
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
		cmocka_unit_test(clocks_and_cycles_pass_like_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
