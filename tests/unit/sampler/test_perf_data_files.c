/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Copied stacks, of which only the top is read at first ---- */

enum { DUMP_BYTES = 16384, DUMPS = 400 };
enum { RBP = 6, RSP = 7, RIP = 8 }; /* asm/perf_regs.h */
static const uint64_t stack_top = 0x7ff000000000;

static struct perf_event_bytes stack_event(void)
{
	struct perf_event_bytes event = example_event();

	event.attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	event.attr.sample_regs_user = 0xff01ff;
	event.attr.sample_stack_user = DUMP_BYTES;
	return event;
}

/* Three frames by frame pointers, the second `depth` bytes up. */
static void put_dump(
	struct buffer *out, const struct perf_event_attr *attr, uint64_t number, size_t depth, size_t copied)
{
	uint64_t registers[17] = { [RBP] = stack_top + 16, [RSP] = stack_top, [RIP] = 0x401010 };
	uint64_t dump[DUMP_BYTES / 8] = { [2] = stack_top + depth, [3] = 0x401101 };

	dump[depth / 8 + 1] = 0x401201;
	put_sample(out, attr,
		&(struct perf_sample_bytes){ 7, 1000 + number, 0x401010, 1, .registers = registers,
			.dump_bytes = DUMP_BYTES, .dump = dump, .copied_bytes = copied });
}

static void make_dumps(struct fixture *fixture, size_t (*depth_of_number)(uint64_t number), size_t copied)
{
	struct perf_event_bytes event = stack_event();

	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	for (uint64_t i = 0; i < DUMPS; i++) {
		put_dump(&fixture->records, &event.attr, i, depth_of_number(i), copied);
		if (i % 7 == 0)
			put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 1000 + i);
	}
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
}

static size_t shallow(uint64_t number)
{
	return 64 + number % 8 * 8;
}

static size_t deep(uint64_t number)
{
	return DUMP_BYTES - 64;
}

/* Up to where the short stacks end, and just behind. */
static size_t any_depth(uint64_t number)
{
	return 64 + number * 40 % (DUMP_BYTES - 128);
}

static void expect_whole_dumps(const struct fixture *fixture)
{
	const struct profile *profile = fixture->result.profile;

	assert_int_equal(profile->quality.samples, DUMPS);
	assert_int_equal(profile->quality.stops[PROFILE_STOP_ROOT], DUMPS);
	for (size_t i = 0; i < DUMPS; i++)
		assert_int_equal(depth_of(profile, profile->samples[profile->events[i].sample].stack), 3);
}

static void test_stacks_are_whole_however_deep_they_are(void **state)
{
	size_t (*const depths[])(uint64_t) = { shallow, deep, any_depth };

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct fixture *fixture = *state;

		fixture->records.size = fixture->file.size = 0;
		make_dumps(fixture, depths[i], 0);
		expect_read(fixture);
		expect_whole_dumps(fixture);
		recording_deinit(&fixture->result);
		fixture->result = (struct recording){ 0 };
	}
}

static void test_what_was_not_copied_of_a_stack_is_not_read(void **state)
{
	struct fixture *fixture = *state;

	make_dumps(fixture, deep, 128);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, DUMPS);
	assert_int_equal(fixture->result.profile->quality.stops[PROFILE_STOP_ROOT], 0);
	assert_int_equal(fixture->result.profile->quality.stops[PROFILE_STOP_DUMP_END], DUMPS);
}

static void test_a_stack_that_says_more_was_copied_than_there_is_room_for_is_named(void **state)
{
	struct fixture *fixture = *state;

	make_dumps(fixture, shallow, DUMP_BYTES + 8);
	expect_failure(fixture, ERROR_FORMAT, "is cut short or contradicts itself");
}

static void test_files_that_were_cut_within_a_stack_are_refused(void **state)
{
	struct fixture *fixture = *state;

	make_dumps(fixture, shallow, 0);
	for (size_t size = fixture->file.size - 3 * (DUMP_BYTES + 300); size < fixture->file.size; size += 1021) {
		char end[64];

		snprintf(end, sizeof(end), "it ends at offset %zu", size);
		assert_false(read_bytes(fixture, fixture->file.data, size));
		assert_int_equal(fixture->err.code, ERROR_FORMAT);
		assert_non_null(strstr(fixture->err.message, "cut short"));
		if (!strstr(fixture->err.message, end))
			fail_msg("'%s' not in: %s", end, fixture->err.message);
	}
}

/* ---- Candidates of the stack scan ---- */

/* The address that the call of this function returns to, in the image. */
__attribute__((noinline)) static uint64_t image_return_address(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	return (uint64_t)(uintptr_t)__builtin_return_address(0) - (uint64_t)(uintptr_t)__ehdr_start;
}

/*
 * A stack below code that nothing describes: its words are return addresses of this very program, from which no rule
 * leads to a root. They were asked about, but stand in no stack, so the profile does not know them.
 */
static void test_addresses_that_were_only_asked_about_are_not_in_the_profile(void **state)
{
	enum { PROGRAM_BYTES = 1 << 30 };
	static const uint64_t program_at = 0x500000000000;
	struct fixture *fixture = *state;
	struct perf_event_bytes event = stack_event();
	uint64_t registers[17] = { [RSP] = stack_top, [RIP] = 0x401010, [RBP] = 1 };
	uint64_t dump[DUMP_BYTES / 8] = { 0 };
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(size > 0);
	path[size] = '\0';
	dump[3] = program_at + image_return_address();
	dump[6] = program_at + image_return_address();
	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	put_mmap(&fixture->records, &event.attr, 7, program_at, PROGRAM_BYTES, path, 0);
	put_sample(&fixture->records, &event.attr,
		&(struct perf_sample_bytes){
			7, 1000, 0x401010, 1, .registers = registers, .dump_bytes = DUMP_BYTES, .dump = dump });
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.stops[PROFILE_STOP_NO_RULE], 1);
	assert_int_equal(fixture->result.profile->location_count, 1);
}

/* ---- The directory of perf record --threads ---- */

struct directory {
	char path[64];
	char *file[3]; /* owned */
};

static void write_part(struct directory *directory, size_t number, const struct buffer *bytes)
{
	char path[128];
	struct error err;

	snprintf(path, sizeof(path), number ? "%s/data.%zu" : "%s/data", directory->path, number - 1);
	directory->file[number] = strdup(path);
	assert_non_null(directory->file[number]);
	assert_true(file_write(directory->file[number], bytes->data ? bytes->data : "", bytes->size, 0600, &err));
}

/* Two threads of perf's: each has every other sample, the second also what was mapped. */
static void make_directory(struct fixture *fixture, struct directory *directory)
{
	struct perf_event_bytes event = example_event();
	struct perf_feature_bytes feature = { PERF_FEATURE_DIR_FORMAT, NULL };
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x401010 };
	struct buffer parts[3];

	*directory = (struct directory){ .path = "/tmp/kelvin-test-perf-XXXXXX" };
	assert_non_null(mkdtemp(directory->path));
	for (size_t i = 0; i < 3; i++)
		buffer_init(&parts[i], MAX_BYTES);
	feature.body = &parts[0];
	put_u64(&parts[0], 1);
	put_comm(&fixture->records, &event.attr, 7, "before", 0);
	put_file(&fixture->file, &event, 1, &fixture->records, &feature, 1);
	put_mmap(&parts[2], &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 900);
	for (uint64_t i = 0; i < 20000; i++) {
		if (i == 10000) {
			put_comm(&parts[2], &event.attr, 7, "after", 1000 + i);
			put_mmap(&parts[2], &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 1000 + i);
		}
		put_sample(&parts[1 + i % 2], &event.attr,
			&(struct perf_sample_bytes){ 7, 1000 + i, 0x401010, 1, chain, 2 });
	}
	write_part(directory, 0, &fixture->file);
	write_part(directory, 1, &parts[1]);
	write_part(directory, 2, &parts[2]);
	for (size_t i = 0; i < 3; i++)
		buffer_deinit(&parts[i]);
}

static void remove_directory(const struct directory *directory)
{
	for (size_t i = 0; i < 3; i++) {
		unlink(directory->file[i]);
		free(directory->file[i]);
	}
	rmdir(directory->path);
}

static bool read_directory(struct fixture *fixture, const struct directory *directory)
{
	int fd = open(directory->file[0], O_RDONLY | O_CLOEXEC);
	struct recording_file recorded = { .fd = fd, .name = directory->path, .directory = directory->path };
	bool ok = sampler_read_perf_data(&recorded, &fixture->result, &fixture->notices, &fixture->err);

	assert_true(fd >= 0);
	close(fd);
	return ok;
}

static void test_the_files_of_a_directory_are_taken_in_order_of_time(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;
	struct directory directory;
	bool ok;

	make_directory(fixture, &directory);
	ok = read_directory(fixture, &directory);
	remove_directory(&directory);
	if (!ok)
		fail_msg("%s", fixture->err.message);
	profile = fixture->result.profile;
	assert_int_equal(profile->quality.samples, 20000);
	for (size_t i = 0; i < 20000; i++) {
		assert_int_equal(profile->events[i].time_ns, i + 100);
		assert_int_equal(event_leaf(profile, i), 0x10);
		assert_string_equal(event_comm(profile, i), i < 10000 ? "before" : "after");
	}
}

static void test_a_cut_file_of_a_directory_is_named(void **state)
{
	struct fixture *fixture = *state;
	struct directory directory;
	bool ok;

	make_directory(fixture, &directory);
	assert_int_equal(truncate(directory.file[2], 99999), 0);
	ok = read_directory(fixture, &directory);
	remove_directory(&directory);
	assert_false(ok);
	assert_non_null(strstr(fixture->err.message, ": data.1: it ends at offset 99999 within the record at offset "));
}

static void test_one_file_alone_of_a_directory_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct directory directory;

	make_directory(fixture, &directory);
	remove_directory(&directory);
	expect_failure(fixture, ERROR_UNSUPPORTED, "name the directory");
}

/* As `cat one.data two.data` makes them. */
static void test_a_second_recording_behind_the_first_is_named(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	CLEANUP(buffer_deinit) struct buffer second = { 0 };
	char text[80];

	buffer_init(&second, MAX_BYTES);
	put_example_records(&fixture->records, &event.attr);
	put_pipe(&fixture->file, &event, 1, &fixture->records);
	put_pipe(&second, &event, 1, &fixture->records);
	snprintf(text, sizeof(text), "another recording begins at offset %zu: make a file of each", fixture->file.size);
	buffer_append(&fixture->file, second.data, second.size);
	expect_failure(fixture, ERROR_UNSUPPORTED, text);
}

/* ---- Sizes that a file claims ---- */

/* A description of events in which one event claims 2^32 - 1 ids, and a name that reaches behind the section. */
static void test_ids_that_are_not_there_cost_nothing(void **state)
{
	enum { PAST_THE_END = 4096, SECONDS = 20 };
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	struct perf_feature_bytes feature = { PERF_FEATURE_EVENT_DESC, NULL };
	CLEANUP(buffer_deinit) struct buffer names = { 0 };

	buffer_init(&names, MAX_BYTES);
	feature.body = &names;
	put_u32(&names, 1);
	put_u32(&names, 0);          /* bytes of attributes */
	put_u32(&names, UINT32_MAX); /* ids */
	put_u32(&names, PAST_THE_END);
	put_u64(&names, event.id);
	put_example_records(&fixture->records, &event.attr);
	put_file(&fixture->file, &event, 1, &fixture->records, &feature, 1);
	alarm(SECONDS);
	expect_read(fixture);
	alarm(0);
}

/* Many events whose ids lie in the same bytes of the file, 60 MB of which nothing is written. */
static void test_ids_are_read_once(void **state)
{
	enum { EVENTS = 1000, HEADER_BYTES = 104, IDS_BYTES = 60 << 20 };
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	struct perf_event_bytes *events = calloc(EVENTS, sizeof(*events));
	char path[] = "/tmp/kelvin-test-perf-XXXXXX";
	struct recording_file recorded = { .name = path };
	uint64_t size = IDS_BYTES;
	size_t at;

	assert_non_null(events);
	for (size_t i = 0; i < EVENTS; i++)
		events[i] = (struct perf_event_bytes){ event.attr, i + 1 };
	put_file(&fixture->file, events, EVENTS, &fixture->records, NULL, 0);
	free(events);
	at = HEADER_BYTES + EVENTS * sizeof(uint64_t);
	for (size_t i = 1; i <= EVENTS; i++) {
		size_t end = at + i * ((fixture->file.size - at) / EVENTS);

		memcpy(fixture->file.data + end - sizeof(size), &size, sizeof(size));
	}
	recorded.fd = mkstemp(path);
	assert_true(recorded.fd >= 0);
	unlink(path);
	assert_int_equal(write(recorded.fd, fixture->file.data, fixture->file.size), fixture->file.size);
	assert_int_equal(ftruncate(recorded.fd, 2 * IDS_BYTES), 0);
	assert_int_equal(lseek(recorded.fd, 0, SEEK_SET), 0);
	assert_false(sampler_read_perf_data(&recorded, &fixture->result, &fixture->notices, &fixture->err));
	assert_int_equal(fixture->err.code, ERROR_FORMAT);
	close(recorded.fd);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_stacks_are_whole_however_deep_they_are),
		TEST(test_what_was_not_copied_of_a_stack_is_not_read),
		TEST(test_a_stack_that_says_more_was_copied_than_there_is_room_for_is_named),
		TEST(test_files_that_were_cut_within_a_stack_are_refused),
		TEST(test_addresses_that_were_only_asked_about_are_not_in_the_profile),
		TEST(test_the_files_of_a_directory_are_taken_in_order_of_time),
		TEST(test_a_cut_file_of_a_directory_is_named),
		TEST(test_one_file_alone_of_a_directory_is_refused),
		TEST(test_a_second_recording_behind_the_first_is_named),
		TEST(test_ids_that_are_not_there_cost_nothing),
		TEST(test_ids_are_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
