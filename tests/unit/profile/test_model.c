/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct profile *read_text(const char *text)
{
	struct profile *profile;
	struct error err;

	if (!foreign_read(text, strlen(text), "test", &profile, &err))
		fail_msg("%s", err.message);
	return profile;
}

static uint32_t mapping_of(
	struct profile *profile, const char *path, const char *build_id, uint64_t start, bool deleted)
{
	struct profile_mapping mapping = {
		.kind = PROFILE_MAPPING_FILE, .start = start, .end = start + 16, .deleted = deleted
	};
	struct error err;
	uint32_t id;

	assert_true(profile_intern(profile, path, &mapping.path, &err));
	assert_true(profile_intern(profile, build_id, &mapping.build_id, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	return id;
}

static void a_binary_is_one_mapping_wherever_it_lay(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_int_equal(mapping_of(profile, "/a/lib.so.1", "aa", 0, false), 0);
	assert_int_equal(mapping_of(profile, "/moved/lib.so.1", "aa", 0, true), 0);
	assert_true(profile->mappings[0].deleted);
	assert_int_equal(mapping_of(profile, "/a/lib.so.1", "bb", 0, false), 1);
	assert_int_equal(mapping_of(profile, "/no-id", "", 0, false), 2);
	assert_int_equal(mapping_of(profile, "/no-id", "", 0, false), 2);
	assert_int_equal(mapping_of(profile, "/other", "", 0, false), 3);
	assert_string_equal(profile_string(profile, profile->mappings[0].module), "lib.so");
}

static void events_are_put_in_order(void **state)
{
	static const int64_t times[] = { 30, 10, 20, 5 };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_run run = { 0 };
	struct profile_thread thread = { 0 };
	uint32_t location, stack;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_run(profile, &run, &thread.run, &err));
	assert_true(profile_add_location(profile, PROFILE_NONE, 0x1000, &location, &err));
	assert_true(profile_add_stack(profile, 0, location, &stack, &err));
	for (size_t i = 0; i < 4; i++) {
		struct profile_thread by = thread;
		int64_t one = 1;
		uint32_t id;

		by.tid = (int32_t)(i % 2);
		assert_true(profile_add_thread(profile, &by, &id, &err));
		assert_true(profile_add_sample(profile, stack, id, &one, times[i], &err));
	}
	assert_true(profile_finish(profile, &err));
	assert_int_equal(profile->sample_count, 2);
	assert_int_equal(profile->event_count, 4);
	for (size_t i = 1; i < 4; i++)
		assert_true(profile->events[i - 1].time_ns <= profile->events[i].time_ns);
	assert_true(profile->has_timeline);
	{
		int64_t one = 1;

		assert_true(profile_add_sample(profile, stack, 0, &one, -1, &err));
		assert_false(profile->has_timeline);
	}
}

static void value_types_come_before_samples_and_are_few(void **state)
{
	struct profile *profile;
	struct error err = { 0 };

	assert_true(profile_create(&profile, &err));
	for (int i = 1; i < PROFILE_MAX_VALUE_TYPES; i++)
		assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_false(profile_add_value_type(profile, "one", "more", &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	profile_destroy(profile);
	profile = read_text("main 1\n");
	assert_false(profile_add_value_type(profile, "late", "count", &err));
	assert_int_equal(err.code, ERROR_USAGE);
	profile_destroy(profile);
}

/* The ids that everything of a text has when it is added once more. */
static void add_again(struct profile *profile, uint32_t ids[4])
{
	struct profile_function function = profile->functions[0];
	uint32_t caller = profile->stacks[1].location;
	struct error err;

	assert_true(profile_add_function(profile, &function, &ids[0], &err));
	assert_int_equal(profile_find_function(profile, &function), ids[0]);
	assert_true(profile_add_location_of_lines(profile, profile->locations[1].mapping,
		&profile->lines[profile->locations[1].first_line], profile->locations[1].line_count, &ids[1], &err));
	assert_true(profile_add_stack(profile, 0, caller, &ids[2], &err));
	assert_true(profile_add_location(profile, PROFILE_NONE, 0x1000, &ids[3], &err));
}

/* Nothing becomes another one because the maps were released, wherever something is added behind that first. */
static void what_is_added_later_is_found_again(void **state)
{
	static const char text[] = "main;outer;inner_[i];callee 3\nmain;other 4\nmain;outer 2\n";
	CLEANUP(profile_cleanup) struct profile *kept = read_text(text);
	CLEANUP(profile_cleanup) struct profile *released = read_text(text);
	uint32_t expected[4], ids[4];
	struct error err;

	add_again(kept, expected);
	add_again(released, ids);
	for (int i = 0; i < 2; i++) {
		profile_release_maps(released);
		add_again(released, ids);
		assert_memory_equal(ids, expected, sizeof(ids));
	}
	profile_release_maps(released);
	assert_true(profile_merge(released, kept, &err));
	assert_int_equal(released->function_count, kept->function_count);
	assert_int_equal(released->location_count, kept->location_count);
	assert_int_equal(released->stack_count, kept->stack_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binary_is_one_mapping_wherever_it_lay),
		cmocka_unit_test(events_are_put_in_order),
		cmocka_unit_test(what_is_added_later_is_found_again),
		cmocka_unit_test(value_types_come_before_samples_and_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
