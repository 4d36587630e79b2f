/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* The values of a type, added up over the samples of a process; -1: the profile has no such type. */
static int64_t sum_of(const struct profile *profile, const char *type, int32_t pid)
{
	uint32_t value_type = profile_find_metric(profile, type, NULL);
	int64_t sum = 0;

	if (value_type == PROFILE_NONE)
		return -1;
	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->threads[profile->samples[i].thread].pid == pid)
			sum += profile->values[i * profile->value_type_count + value_type];
	return sum;
}

static void test_counts_are_charged_to_the_threads_samples(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	make_group(fixture);
	expect_read(fixture);
	profile = fixture->result.profile;
	assert_int_equal(profile->quality.samples, 4);
	assert_int_equal(sum_of(profile, "page-faults", 7), 34);
	assert_int_equal(sum_of(profile, "page-faults", 8), 3);
	assert_int_equal(sum_of(profile, "context-switches", 7), 2);
	/* The time is there already; the event behind the group is sampled on its own. */
	assert_int_equal(sum_of(profile, "cpu-clock", 7), -1);
	assert_int_equal(sum_of(profile, "cpu-migrations", 7), -1);
	assert_string_equal(profile_string(profile, profile->value_types[profile->default_value_type].type), "cpu");
	assert_string_equal(profile_string(profile, profile->facts.counters), "page-faults, context-switches");
}

/* The values are in the middle of a sample: every cut of the file is told or read. */
static void test_truncated(void **state)
{
	struct fixture *fixture = *state;

	make_group(fixture);
	for (size_t size = 0; size < fixture->file.size; size++) {
		if (read_bytes(fixture, fixture->file.data, size)) {
			assert_true(sum_of(fixture->result.profile, "page-faults", 7) <= 34);
			recording_deinit(&fixture->result);
		}
		fixture->notices.size = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_counts_are_charged_to_the_threads_samples, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_truncated, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
