/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "tests/unit/profile/profile_fixture.h"

#include "profile/foreign/foreign.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_ALLOCATIONS = 10000 };

static struct buffer written(const struct profile *profile)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, MOST_BYTES);
	if (!foreign_write_otlp(profile, &out, &err))
		fail_msg("%s", err.message);
	assert_int_equal(foreign_kind(out.data, out.size), FOREIGN_OTLP);
	return out;
}

static struct profile *round_trip(const struct profile *profile)
{
	CLEANUP(buffer_deinit) struct buffer out = written(profile);

	return read_profile(out.data, out.size);
}

/* Every metric has the same stacks with the same values. */
static void expect_same_stacks(const struct profile *profile, const struct profile *read)
{
	for (uint32_t type = profile_first_metric(profile); type < profile->value_type_count; type++) {
		const char *name = profile_string(profile, profile->value_types[type].type);
		const char *unit = profile_string(profile, profile->value_types[type].unit);
		const uint32_t same = profile_find_metric(read, name, unit);
		CLEANUP(buffer_deinit) struct buffer out = { 0 };
		struct error err;

		if (same == PROFILE_NONE)
			fail_msg("no %s", name);
		buffer_init(&out, MOST_BYTES);
		assert_true(profile_write_folded(profile, type, &out, &err));
		assert_true(out.size > 0);
		expect_stacks(read, same, out.data);
		assert_int_equal(profile_sum(profile, type), profile_sum(read, same));
	}
}

static const struct profile_mapping *mapping_of(const struct profile *profile, const char *path)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (strcmp(profile_string(profile, profile->mappings[i].path), path) == 0)
			return &profile->mappings[i];
	fail_msg("no mapping of %s", path);
	return NULL;
}

static void what_is_written_is_read(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	CLEANUP(profile_cleanup) struct profile *read = round_trip(profile);

	expect_same_stacks(profile, read);
	assert_string_equal(profile_label(read, "service"), "checkout");
	assert_string_equal(profile_label(read, "version"), "4.2.1");
	assert_string_equal(profile_string(read, read->value_types[read->default_value_type].type), "cpu");
	/* Both runs: from the start of the first to the end of the second. */
	assert_int_equal(read->runs[0].start_unix_ns, 1700000000000000000);
	assert_int_equal(read->runs[0].duration_ns, 12000000000);
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i], *same;

		if (mapping->kind != PROFILE_MAPPING_FILE)
			continue;
		same = mapping_of(read, profile_string(profile, mapping->path));
		assert_int_equal(same->start, mapping->start);
		assert_int_equal(same->end, mapping->end);
		assert_int_equal(same->file_offset, mapping->file_offset);
		assert_string_equal(profile_string(read, same->build_id), profile_string(profile, mapping->build_id));
	}
}

static void threads_and_labels_of_samples_are_kept(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	CLEANUP(profile_cleanup) struct profile *read = round_trip(profile);

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		struct profile_sample_label benchmark, route, of_read;
		bool found = false;

		for (size_t k = 0; k < read->thread_count; k++) {
			const struct profile_thread *other = &read->threads[k];
			const bool has_route = profile_thread_label(profile, thread, "route", &route);

			if (other->tid != thread->tid || other->pid != thread->pid)
				continue;
			assert_string_equal(profile_string(read, other->name), profile_string(profile, thread->name));
			assert_string_equal(profile_string(read, other->process_name), "server");
			assert_int_equal(profile_thread_label(read, other, "route", &of_read), has_route);
			/* A benchmark's samples have its name. */
			found |= profile_thread_label(read, other, "benchmark", &benchmark) ==
				 (profile->runs[thread->run].name != 0);
		}
		assert_true(found);
	}
}

static struct profile *profile_of(const char *type, const char *const *frames, size_t count)
{
	struct profile *profile;
	struct profile_thread thread = { .pid = 7, .tid = 8 };
	uint32_t run, on = 0, by;
	struct error err;

	assert_true(profile_create(&profile, &err) && profile_add_value_type(profile, type, "nanoseconds", &err));
	assert_true(profile_add_run(
		profile, &(struct profile_run){ .start_unix_ns = 1000, .duration_ns = 100 }, &run, &err));
	assert_true(profile_add_thread(profile, &thread, &by, &err));
	for (size_t i = 0; i < count; i++) {
		struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };
		struct profile_line line = { 0 };
		uint32_t location;

		assert_true(profile_intern(profile, frames[i], &function.name, &err) &&
			    profile_add_function(profile, &function, &line.function, &err) &&
			    profile_add_location_of_lines(profile, PROFILE_NONE, &line, 1, &location, &err) &&
			    profile_add_stack(profile, on, location, &on, &err));
	}
	for (int64_t i = 1; i <= 3; i++)
		assert_true(profile_add_sample(profile, on, by, (int64_t[]){ 1, 0 }, 10 * i, &err) &&
			    profile_weigh_event(profile, i, &err));
	profile->values[1] = 100;
	assert_true(profile_finish(profile, &err));
	return profile;
}

/* 100 ns of events that weigh 1, 2 and 3: 16, 34 and 50, which are 100. */
static void values_are_shared_out_among_events(void **state)
{
	static const char *const frames[] = { "main", "wait" };
	static const char values[] = "\x22\x03\x10\x22\x32\x2a\x18\xf2\x03\0\0\0\0\0\0\xfc\x03\0\0\0\0\0\0\x06\x04";
	CLEANUP(profile_cleanup) struct profile *profile = profile_of("off-cpu", frames, 2);
	CLEANUP(profile_cleanup) struct profile *read = round_trip(profile);
	CLEANUP(buffer_deinit) struct buffer out = written(profile);

	expect_same_stacks(profile, read);
	assert_non_null(memmem(out.data, out.size, values, sizeof(values) - 1));
}

/* Without a time of its own, a run has no times of events. */
static void times_need_a_start(void **state)
{
	static const char *const frames[] = { "main" };
	CLEANUP(profile_cleanup) struct profile *profile = profile_of("cpu", frames, 1), *read = NULL;
	CLEANUP(buffer_deinit) struct buffer with_times = written(profile), out = { 0 };

	profile->runs[0].start_unix_ns = 0;
	read = round_trip(profile);
	expect_same_stacks(profile, read);
	out = written(profile);
	assert_true(out.size + 48 < with_times.size);
}

/* Protobuf's strings are UTF-8; no name is lost for one wrong byte. */
static void wrong_bytes_are_replaced(void **state)
{
	static const char *const frames[] = { "main", "caf\xe9", "na\xc3\xafve", "" };
	CLEANUP(profile_cleanup) struct profile *profile = profile_of("cpu", frames, 3);
	CLEANUP(profile_cleanup) struct profile *read = round_trip(profile);

	expect_stacks(read, profile_find_metric(read, "cpu", NULL), "main;caf\xef\xbf\xbd;na\xc3\xafve 100\n");
}

static void a_small_buffer_is_told(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	CLEANUP(buffer_deinit) struct buffer whole = written(profile);

	for (size_t most = 1; most < whole.size; most += 7) {
		CLEANUP(buffer_deinit) struct buffer out = { 0 };
		struct error err;

		buffer_init(&out, most);
		assert_false(foreign_write_otlp(profile, &out, &err));
		if (err.code != ERROR_LIMIT)
			fail_msg("%zu bytes: %s", most, err.message);
	}
}

static void every_failed_allocation_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	bool succeeded = false;

	for (size_t n = 0; !succeeded; n++) {
		CLEANUP(buffer_deinit) struct buffer out = { 0 };
		struct error err = { 0 };

		assert_true(n < MOST_ALLOCATIONS);
		buffer_init(&out, MOST_BYTES);
		failing_malloc_after(n);
		succeeded = foreign_write_otlp(profile, &out, &err);
		failing_malloc_after(SIZE_MAX);
		if (!succeeded && err.code != ERROR_MEMORY)
			fail_msg("allocation %zu: %s", n, err.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(threads_and_labels_of_samples_are_kept),
		cmocka_unit_test(values_are_shared_out_among_events),
		cmocka_unit_test(times_need_a_start),
		cmocka_unit_test(wrong_bytes_are_replaced),
		cmocka_unit_test(a_small_buffer_is_told),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
