/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct profile *empty_profile(void)
{
	struct profile *profile;
	struct error err;

	if (!profile_create(&profile, &err))
		fail_msg("%s", err.message);
	return profile;
}

static void merge(struct profile *into, const struct profile *from)
{
	struct error err;

	if (!profile_merge(into, from, &err) || !profile_finish(into, &err) || !profile_validate(into, &err))
		fail_msg("%s", err.message);
}

static void merging_into_an_empty_profile_copies(void **state)
{
	struct profile *from = sample_profile(), *into = empty_profile();

	(void)state;
	merge(into, from);
	assert_profiles_equal(from, into);
	profile_destroy(from);
	profile_destroy(into);
}

static void places_become_one_and_runs_stay_apart(void **state)
{
	struct profile *from = sample_profile(), *into = sample_profile();

	(void)state;
	merge(into, from);
	assert_int_equal(into->mapping_count, from->mapping_count);
	assert_int_equal(into->function_count, from->function_count);
	assert_int_equal(into->location_count, from->location_count);
	assert_int_equal(into->stack_count, from->stack_count);
	assert_int_equal(into->run_count, 2 * from->run_count);
	assert_int_equal(into->thread_count, 2 * from->thread_count);
	assert_int_equal(into->sample_count, 2 * from->sample_count);
	assert_int_equal(into->event_count, 2 * from->event_count);
	assert_true(into->has_timeline);
	assert_int_equal(profile_sum(into, 0), 2 * profile_sum(from, 0));
	assert_int_equal(profile_sum(into, 1), 2 * profile_sum(from, 1));
	assert_int_equal(into->quality.lost, 2 * from->quality.lost);
	assert_int_equal(into->quality.stops[PROFILE_STOP_ROOT], 2 * from->quality.stops[PROFILE_STOP_ROOT]);
	assert_string_equal(profile_string(into, into->facts.kernel), "6.18");
	profile_destroy(from);
	profile_destroy(into);
}

static void a_merged_profile_is_written_and_read(void **state)
{
	struct profile *from = sample_profile(), *into = sample_profile(), *back;
	struct buffer file;

	(void)state;
	merge(into, from);
	file = written_profile(into);
	back = read_profile(file.data, file.size);
	assert_profiles_equal(into, back);
	buffer_deinit(&file);
	profile_destroy(back);
	profile_destroy(from);
	profile_destroy(into);
}

/* Folded text does not show order: the same whichever came first. */
static void the_order_does_not_matter(void **state)
{
	static const char a_text[] = "main;a 1\nmain;b 2\n", b_text[] = "main;b 3\nmain;c;d 4\n";
	struct buffer out[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct profile *a = read_profile(a_text, strlen(a_text)), *b = read_profile(b_text, strlen(b_text));
		struct error err;

		buffer_init(&out[i], 1 << 16);
		merge(i ? a : b, i ? b : a);
		assert_true(profile_write_folded(i ? a : b, &out[i], &err));
		profile_destroy(a);
		profile_destroy(b);
	}
	assert_string_equal(out[0].data, "main;a 1\nmain;b 5\nmain;c;d 4\n");
	assert_string_equal(out[0].data, out[1].data);
	buffer_deinit(&out[0]);
	buffer_deinit(&out[1]);
}

static void facts_that_differ_are_not_known(void **state)
{
	struct profile *from = sample_profile(), *into = sample_profile();
	struct error err;

	(void)state;
	assert_true(profile_intern(from, "7.0", &from->facts.kernel, &err));
	from->facts.cpu_count = 64;
	merge(into, from);
	assert_int_equal(into->facts.kernel, 0);
	assert_int_equal(into->facts.cpu_count, 0);
	assert_string_equal(profile_string(into, into->facts.event), "cpu-clock");
	profile_destroy(from);
	profile_destroy(into);
}

static void different_value_types_cannot_be_added(void **state)
{
	struct profile *into = sample_profile(), *from = read_profile("main 1\n", 7), *other = empty_profile();
	struct error err = { 0 };

	(void)state;
	assert_false(profile_merge(into, from, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_non_null(strstr(err.message, "value types"));
	assert_true(profile_add_value_type(other, "alloc_space", "bytes", &err));
	assert_false(profile_merge(into, other, &err));
	assert_non_null(strstr(err.message, "alloc_space"));
	profile_destroy(into);
	profile_destroy(from);
	profile_destroy(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_into_an_empty_profile_copies),
		cmocka_unit_test(places_become_one_and_runs_stay_apart),
		cmocka_unit_test(a_merged_profile_is_written_and_read),
		cmocka_unit_test(the_order_does_not_matter),
		cmocka_unit_test(facts_that_differ_are_not_known),
		cmocka_unit_test(different_value_types_cannot_be_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
