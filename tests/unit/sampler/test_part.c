/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/part/part.h"

#include "sampler/sampler.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20 };

struct fixture {
	char directory[64], path[128], old[160];
	struct profile *profile;
	struct part part;
	struct buffer file, notices;
	struct recording result;
	struct error err;
};

static uint32_t intern(struct fixture *fixture, const char *text)
{
	uint32_t id;

	assert_true(profile_intern(fixture->profile, text, &id, &fixture->err));
	return id;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct profile_run run = { .start_unix_ns = 1234, .exit_status = -1 };
	uint32_t id;

	assert_non_null(fixture);
	strcpy(fixture->directory, "/tmp/test_part.XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->path, sizeof(fixture->path), "%s/a.part", fixture->directory);
	snprintf(fixture->old, sizeof(fixture->old), "%s.old", fixture->path);
	buffer_init(&fixture->file, MAX_BYTES);
	buffer_init(&fixture->notices, MAX_BYTES);
	part_init(&fixture->part);
	assert_true(profile_create(&fixture->profile, &fixture->err));
	assert_true(profile_add_value_type(fixture->profile, "cpu", "nanoseconds", &fixture->err));
	fixture->profile->period_type = fixture->profile->value_types[1];
	fixture->profile->period = 1000;
	assert_true(profile_add_run(fixture->profile, &run, &id, &fixture->err));
	fixture->profile->facts.command = intern(fixture, "pid 7 (program)");
	fixture->profile->facts.cgroup = intern(fixture, "/system.slice/program.service");
	fixture->profile->facts.cpu_limit_milli = 1500;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	part_deinit(&fixture->part);
	unlink(fixture->path);
	unlink(fixture->old);
	rmdir(fixture->directory);
	recording_deinit(&fixture->result);
	profile_destroy(fixture->profile);
	buffer_deinit(&fixture->file);
	buffer_deinit(&fixture->notices);
	free(fixture);
	return 0;
}

/* A sample at `address` of a program that is nowhere, called from `caller`. */
static void add_sample(struct fixture *fixture, uint64_t caller, uint64_t address, int64_t period_ns, int64_t time_ns)
{
	struct profile *profile = fixture->profile;
	struct profile_mapping mapping = { .path = intern(fixture, "/no/such/program"), .end = 0x10000 };
	struct profile_thread thread = { 0, 7, 8, intern(fixture, "program"), intern(fixture, "worker") };
	uint32_t mapping_id, thread_id, location, stack = 0;
	int64_t values[] = { 1, period_ns };

	assert_true(profile_add_mapping(profile, &mapping, &mapping_id, &fixture->err));
	assert_true(profile_add_thread(profile, &thread, &thread_id, &fixture->err));
	assert_true(profile_add_location(profile, mapping_id, caller, &location, &fixture->err));
	assert_true(profile_add_stack(profile, stack, location, &stack, &fixture->err));
	assert_true(profile_add_location(profile, mapping_id, address, &location, &fixture->err));
	assert_true(profile_add_stack(profile, stack, location, &stack, &fixture->err));
	assert_true(profile_add_sample(profile, stack, thread_id, values, time_ns, &fixture->err));
	profile->quality.samples++;
	profile->quality.stops[PROFILE_STOP_ROOT]++;
}

static void create(struct fixture *fixture)
{
	if (!part_create(&fixture->part, fixture->path, &fixture->notices, &fixture->err))
		fail_msg("%s", fixture->err.message);
}

static void write_chunk(struct fixture *fixture, int64_t duration_ns)
{
	if (!part_write(&fixture->part, fixture->profile, duration_ns, &fixture->err))
		fail_msg("%s", fixture->err.message);
}

/* Two chunks: the second adds to a sample of the first. */
static void write_example(struct fixture *fixture)
{
	create(fixture);
	add_sample(fixture, 0x100, 0x200, 1000, 10000);
	add_sample(fixture, 0x100, 0x300, 1001, 20000);
	write_chunk(fixture, 100);
	add_sample(fixture, 0x100, 0x200, 1002, 30000);
	add_sample(fixture, 0x180, 0x200, 1003, 40000);
	write_chunk(fixture, 200);
	assert_true(file_read(fixture->path, &fixture->file, &fixture->err));
}

static bool read_bytes(struct fixture *fixture, const void *bytes, size_t size)
{
	char path[160];
	struct recording_file recorded = { .name = "a.part" };
	bool ok;

	snprintf(path, sizeof(path), "%s/copy", fixture->directory);
	assert_true(file_write(path, bytes, size, 0600, &fixture->err));
	recorded.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(recorded.fd >= 0);
	recording_deinit(&fixture->result);
	ok = sampler_read_part(&recorded, &fixture->result, &fixture->notices, &fixture->err);
	close(recorded.fd);
	unlink(path);
	return ok;
}

static void test_what_was_written_is_read_back(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	write_example(fixture);
	if (!read_bytes(fixture, fixture->file.data, fixture->file.size))
		fail_msg("%s", fixture->err.message);
	profile = fixture->result.profile;
	assert_int_equal(profile->quality.samples, 4);
	assert_int_equal(profile->quality.stops[PROFILE_STOP_ROOT], 4);
	assert_int_equal(profile->event_count, 4);
	assert_int_equal(profile->sample_count, 3);
	assert_int_equal(profile->values[0], 2);
	assert_int_equal(profile->values[1], 2002);
	assert_int_equal(profile->values[3], 1001);
	assert_int_equal(profile->values[5], 1003);
	assert_int_equal(profile->events[3].time_ns, 40000);
	assert_int_equal(profile->runs[0].duration_ns, 200);
	assert_int_equal(profile->runs[0].start_unix_ns, 1234);
	assert_int_equal(profile->period, 1000);
	assert_string_equal(profile_string(profile, profile->facts.command), "pid 7 (program)");
	assert_string_equal(profile_string(profile, profile->facts.cgroup), "/system.slice/program.service");
	assert_int_equal(profile->facts.cpu_limit_milli, 1500);
	assert_string_equal(profile_string(profile, profile->threads[0].name), "worker");
	assert_true(profile->has_timeline);
	assert_true(profile_validate(profile, &fixture->err));
}

/* Of one sample each; the file's bytes are in fixture->file. Where the second begins. */
static uint64_t write_two_chunks(struct fixture *fixture)
{
	uint64_t first;

	create(fixture);
	add_sample(fixture, 0x100, 0x200, 1000, 10000);
	write_chunk(fixture, 100);
	first = fixture->part.written_bytes;
	add_sample(fixture, 0x100, 0x300, 1000, 20000);
	write_chunk(fixture, 200);
	assert_true(file_read(fixture->path, &fixture->file, &fixture->err));
	return first;
}

static void test_a_recorder_killed_while_writing_loses_that_chunk_only(void **state)
{
	struct fixture *fixture = *state;
	uint64_t first = write_two_chunks(fixture);

	for (size_t size = 0; size < fixture->file.size; size++) {
		bool ok = read_bytes(fixture, fixture->file.data, size);

		assert_int_equal(ok, size >= first);
		if (ok)
			assert_int_equal(fixture->result.profile->quality.samples, 1);
		else
			assert_non_null(strstr(fixture->err.message, "cannot read a.part: "));
	}
}

static void test_a_damaged_chunk_ends_the_reading(void **state)
{
	struct fixture *fixture = *state;

	write_example(fixture);
	fixture->file.data[fixture->file.size - 1] ^= 1;
	assert_true(read_bytes(fixture, fixture->file.data, fixture->file.size));
	assert_int_equal(fixture->result.profile->quality.samples, 2);
	assert_non_null(strstr(fixture->notices.data, "was not written whole and is left out"));
}

/* One bit of each byte. */
static void test_a_file_that_is_damaged_anywhere_is_not_believed(void **state)
{
	struct fixture *fixture = *state;
	uint64_t first = write_two_chunks(fixture);

	for (size_t i = 0; i < fixture->file.size; i++) {
		char *byte = &fixture->file.data[i];
		bool ok;

		*byte = (char)(*byte ^ 1 << i % 8);
		ok = read_bytes(fixture, fixture->file.data, fixture->file.size);
		*byte = (char)(*byte ^ 1 << i % 8);
		assert_int_equal(ok, i >= first);
		if (ok)
			assert_int_equal(fixture->result.profile->quality.samples, 1);
	}
}

static void test_what_an_older_version_left_has_a_message(void **state)
{
	static const char bytes[] = "KELVINPART\nKCHK";
	struct fixture *fixture = *state;

	assert_false(read_bytes(fixture, bytes, strlen(bytes)));
	assert_int_equal(fixture->err.code, ERROR_UNSUPPORTED);
	assert_string_equal(fixture->err.message,
		"cannot read a.part: an older kelvin wrote this unfinished recording; recover it with the kelvin that recorded it");
}

static void test_events_may_come_out_of_order(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	create(fixture);
	add_sample(fixture, 0x100, 0x200, 1000, 30000);
	add_sample(fixture, 0x100, 0x300, 1000, 20000);
	write_chunk(fixture, 100);
	add_sample(fixture, 0x100, 0x200, 1000, 10000);
	write_chunk(fixture, 200);
	assert_true(file_read(fixture->path, &fixture->file, &fixture->err));
	if (!read_bytes(fixture, fixture->file.data, fixture->file.size))
		fail_msg("%s", fixture->err.message);
	profile = fixture->result.profile;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(profile->events[i].time_ns, 10000 * (i + 1));
	assert_int_equal(profile->events[0].sample, profile->events[2].sample);
}

static void test_what_a_killed_recorder_left_is_kept(void **state)
{
	struct fixture *fixture = *state;

	write_example(fixture);
	part_deinit(&fixture->part);
	create(fixture);
	assert_int_equal(access(fixture->old, F_OK), 0);
	assert_non_null(strstr(fixture->notices.data, ".part.old"));
}

static void test_each_killed_recorder_s_file_is_kept(void **state)
{
	struct fixture *fixture = *state;
	char second[192];

	snprintf(second, sizeof(second), "%s.2", fixture->old);
	write_example(fixture);
	part_deinit(&fixture->part);
	create(fixture);
	add_sample(fixture, 0x100, 0x400, 1000, 50000);
	write_chunk(fixture, 100);
	part_deinit(&fixture->part);
	create(fixture);
	buffer_deinit(&fixture->file);
	buffer_init(&fixture->file, MAX_BYTES);
	assert_true(file_read(fixture->old, &fixture->file, &fixture->err));
	assert_true(read_bytes(fixture, fixture->file.data, fixture->file.size));
	assert_int_equal(fixture->result.profile->quality.samples, 4);
	assert_non_null(strstr(fixture->notices.data, ".part.old.2; 'kelvin recover"));
	assert_int_equal(unlink(second), 0);
}

static void expect_refused(struct fixture *fixture, const char *reason)
{
	char message[256];

	assert_false(part_create(&fixture->part, fixture->path, NULL, &fixture->err));
	assert_int_equal(fixture->err.code, ERROR_PERMISSION);
	snprintf(
		message, sizeof(message), "cannot write %s: %s; remove it or choose another -o", fixture->path, reason);
	assert_string_equal(fixture->err.message, message);
	part_deinit(&fixture->part);
	assert_int_equal(unlink(fixture->path), 0);
}

/* In a directory where others may write, anything may lie under the name. */
static void test_only_a_file_of_one_s_own_receives_a_recording(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	expect_refused(fixture, "it is not a regular file");
	assert_int_equal(symlink("made", fixture->path), 0);
	expect_refused(fixture, "it is a link");
	assert_true(file_write(fixture->path, "", 0, 0600, &fixture->err));
	assert_int_equal(link(fixture->path, fixture->old), 0);
	expect_refused(fixture, "it has a second name (a hard link)");
	if (geteuid() != 0)
		return;
	assert_true(file_write(fixture->path, "", 0, 0666, &fixture->err));
	assert_int_equal(chown(fixture->path, 65534, 65534), 0);
	expect_refused(fixture, "it belongs to another user");
}

static void test_two_recorders_do_not_write_one_file(void **state)
{
	struct fixture *fixture = *state;
	struct part other;

	create(fixture);
	part_init(&other);
	assert_false(part_create(&other, fixture->path, NULL, &fixture->err));
	assert_int_equal(fixture->err.code, ERROR_USAGE);
	part_deinit(&other);
	assert_int_equal(access(fixture->path, F_OK), 0);
}

static void test_nothing_recorded_leaves_no_file(void **state)
{
	struct fixture *fixture = *state;
	struct stat info;

	create(fixture);
	assert_int_equal(stat(fixture->path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	part_deinit(&fixture->part);
	assert_int_not_equal(access(fixture->path, F_OK), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_what_was_written_is_read_back),
		TEST(test_a_recorder_killed_while_writing_loses_that_chunk_only),
		TEST(test_a_damaged_chunk_ends_the_reading),
		TEST(test_a_file_that_is_damaged_anywhere_is_not_believed),
		TEST(test_what_an_older_version_left_has_a_message),
		TEST(test_events_may_come_out_of_order),
		TEST(test_what_a_killed_recorder_left_is_kept),
		TEST(test_each_killed_recorder_s_file_is_kept),
		TEST(test_only_a_file_of_one_s_own_receives_a_recording),
		TEST(test_two_recorders_do_not_write_one_file),
		TEST(test_nothing_recorded_leaves_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
