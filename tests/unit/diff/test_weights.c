/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"

#include "tests/unit/support/profile.h"

#include <string.h>

enum { LIGHT_FUNCTIONS = 20, LIGHT_SAMPLES = 1000 };

/* `count` samples in a function, of `weight` page faults each. */
static void add_samples(struct profile *profile, uint32_t thread, const char *name, int64_t count, int64_t weight)
{
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	const int64_t values[2] = { count, count * weight };
	struct error err;
	uint32_t location, stack;

	must(profile_intern(profile, name, &function.name, &err) &&
			profile_add_function(profile, &function, &line.function, &err) &&
			profile_add_location_of_lines(profile, PROFILE_NONE, &line, 1, &location, &err) &&
			profile_add_stack(profile, 0, location, &stack, &err) &&
			profile_add_sample(profile, stack, thread, values, -1, &err),
		&err);
}

/* An attached process: one function of `heavy` samples of 10,000 page faults each, and many of many samples of `light`
 * each. */
static struct profile *attached(int64_t heavy, int64_t light, int64_t first_light_samples)
{
	struct profile_run run = { .duration_ns = 10000000000, .exit_status = -1 };
	struct profile_thread thread = { .pid = 7, .tid = 7 };
	struct profile *profile;
	struct error err;
	uint32_t id;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "page-faults", "count", &err) &&
			profile_add_run(profile, &run, &thread.run, &err) &&
			profile_add_thread(profile, &thread, &id, &err),
		&err);
	profile->default_value_type = 1;
	if (heavy)
		add_samples(profile, id, "heavy", heavy, 10000);
	for (int i = 0; i < LIGHT_FUNCTIONS; i++) {
		char name[] = { 'l', (char)('a' + i), '\0' };

		add_samples(profile, id, name, i ? LIGHT_SAMPLES : first_light_samples, light);
	}
	must(profile_finish(profile, &err), &err);
	return profile;
}

static struct diff *compare_by(struct profile *base, struct profile *head, enum diff_scale_mode scale)
{
	return synthetic_compare(base, head, &(struct diff_options){ .scale = scale });
}

static struct diff *compare(struct profile *base, struct profile *head)
{
	return compare_by(base, head, DIFF_SCALE_AUTO);
}

/* Three samples against nine are nothing, however much each of them stands for. */
static void few_heavy_samples_prove_nothing(void **state)
{
	struct diff *diff = compare(attached(3, 10, LIGHT_SAMPLES), attached(9, 10, LIGHT_SAMPLES));

	assert_int_equal(synthetic_function(diff, "heavy")->self.state, DIFF_STATE_UNPROVEN);
	diff_destroy(diff);
	diff = compare(attached(9, 10, LIGHT_SAMPLES), attached(3, 10, LIGHT_SAMPLES));
	assert_int_equal(synthetic_function(diff, "heavy")->self.state, DIFF_STATE_UNPROVEN);
	diff_destroy(diff);
}

/* Nor do the heavy ones hide what many light ones show. */
static void many_light_samples_prove_as_ever(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(attached(5, 10, LIGHT_SAMPLES), attached(5, 10, 8 * LIGHT_SAMPLES));

	assert_int_equal(synthetic_function(diff, "la")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "lb")->self.state, DIFF_STATE_SAME);
}

/* Twice the requests make twice the page faults: of an attached process that is load, of counts as of time, and it is
 * said. */
static void load_is_divided_out_of_counts_too(void **state)
{
	struct diff *diff =
		compare_by(attached(0, 10, LIGHT_SAMPLES), attached(0, 20, LIGHT_SAMPLES), DIFF_SCALE_ROBUST);

	assert_int_equal(diff->scale.mode, DIFF_SCALE_ROBUST);
	assert_float_equal(diff->scale.factor, 0.5, 1e-9);
	assert_int_equal(synthetic_function(diff, "la")->self.state, DIFF_STATE_SAME);
	assert_non_null(
		strstr(diff_string(diff, diff->scale_text), "took 2.00 times as many page-faults per second in head"));
	diff_destroy(diff);
	diff = compare_by(attached(0, 20, LIGHT_SAMPLES), attached(0, 10, LIGHT_SAMPLES), DIFF_SCALE_ROBUST);
	assert_non_null(
		strstr(diff_string(diff, diff->scale_text), "took 0.50 times as many page-faults per second in head"));
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_heavy_samples_prove_nothing),
		cmocka_unit_test(many_light_samples_prove_as_ever),
		cmocka_unit_test(load_is_divided_out_of_counts_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
