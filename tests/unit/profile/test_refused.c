/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pprof_bytes.h"
#include "profile_fixture.h"

#include "common/gzip.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* One valid sample; each case adds what is wrong. */
static void valid_file(struct pprof_bytes *p)
{
	pprof_value_type(p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_mapping(p, 1, 0x1000, "/srv/app", "abcd");
	pprof_function(p, 1, "main");
	pprof_location(p, 1, 1, 0x1100, (uint64_t[]){ 1, 0 });
	pprof_sample(p, &(struct pprof_sample){ .locations = { 1 }, .values = { 1 }, .value_count = 1 });
}

static void add_number_message(struct pprof_bytes *p, enum pprof_field field, uint32_t inner, uint64_t value)
{
	CLEANUP(buffer_deinit) struct buffer message = { 0 };

	buffer_init(&message, 1 << 10);
	pprof_number(&message, 1, 90);
	pprof_number(&message, inner, value);
	pprof_text(&p->file, field, message.data, message.size);
}

static void sample_of_no_location(struct pprof_bytes *p)
{
	pprof_sample(p, &(struct pprof_sample){ .locations = { 9 }, .values = { 1 }, .value_count = 1 });
}

static void sample_with_too_few_values(struct pprof_bytes *p)
{
	pprof_sample(p, &(struct pprof_sample){ .locations = { 1 } });
}

static void sample_with_too_many_values(struct pprof_bytes *p)
{
	pprof_sample(p, &(struct pprof_sample){ .locations = { 1 }, .values = { 1, 2 }, .value_count = 2 });
}

static void sample_with_a_negative_value(struct pprof_bytes *p)
{
	pprof_sample(p, &(struct pprof_sample){ .locations = { 1 }, .values = { -1 }, .value_count = 1 });
}

static void samples_that_sum_past_63_bits(struct pprof_bytes *p)
{
	pprof_function(p, 2, "other");
	pprof_location(p, 2, 1, 0x1200, (uint64_t[]){ 2, 0 });
	pprof_sample(p, &(struct pprof_sample){ .locations = { 2 }, .values = { INT64_MAX }, .value_count = 1 });
}

static void location_of_no_function(struct pprof_bytes *p)
{
	pprof_location(p, 2, 1, 0x1200, (uint64_t[]){ 8, 0 });
}

static void location_twice(struct pprof_bytes *p)
{
	pprof_location(p, 1, 1, 0x1200, (uint64_t[]){ 1, 0 });
}

static void location_with_the_id_0(struct pprof_bytes *p)
{
	pprof_location(p, 0, 1, 0x1200, (uint64_t[]){ 1, 0 });
}

static void function_twice(struct pprof_bytes *p)
{
	pprof_function(p, 1, "again");
}

static void function_with_the_id_0(struct pprof_bytes *p)
{
	pprof_function(p, 0, "zero");
}

static void mapping_twice(struct pprof_bytes *p)
{
	pprof_mapping(p, 1, 0x5000, "/srv/again", "");
}

static void mapping_with_the_id_0(struct pprof_bytes *p)
{
	pprof_mapping(p, 0, 0x5000, "/srv/zero", "");
}

static void function_with_a_string_that_is_not_there(struct pprof_bytes *p)
{
	add_number_message(p, PPROF_FUNCTION, 2, 1000);
	pprof_location(p, 2, 1, 0x1200, (uint64_t[]){ 90, 0 });
}

static void function_with_a_negative_string(struct pprof_bytes *p)
{
	add_number_message(p, PPROF_FUNCTION, 4, (uint64_t)-1);
	pprof_location(p, 2, 1, 0x1200, (uint64_t[]){ 90, 0 });
}

static void mapping_with_a_string_that_is_not_there(struct pprof_bytes *p)
{
	add_number_message(p, PPROF_MAPPING, 5, 1000);
}

static void sample_type_with_a_string_that_is_not_there(struct pprof_bytes *p)
{
	CLEANUP(buffer_deinit) struct buffer message = { 0 };

	buffer_init(&message, 1 << 10);
	pprof_number(&message, 1, 1000);
	pprof_text(&p->file, PPROF_SAMPLE_TYPE, message.data, message.size);
}

static void more_sample_types_than_are_held(struct pprof_bytes *p)
{
	for (int i = 0; i < 100000; i++)
		pprof_value_type(p, PPROF_SAMPLE_TYPE, "more", "count");
}

static void field_that_runs_past_the_end(struct pprof_bytes *p)
{
	buffer_append_varint(&p->file, PPROF_SAMPLE << 3 | 2);
	buffer_append_varint(&p->file, 1 << 20);
}

static void field_of_2_to_the_64(struct pprof_bytes *p)
{
	buffer_append_varint(&p->file, PPROF_SAMPLE << 3 | 2);
	buffer_append_varint(&p->file, UINT64_MAX);
}

static void field_of_no_wire_type(struct pprof_bytes *p)
{
	buffer_append_varint(&p->file, 7 << 3 | 7);
}

static void extension_of_the_future(struct pprof_bytes *p)
{
	add_number_message(p, PPROF_KELVIN, 1, 2);
}

static void thread_of_no_run(struct pprof_bytes *p)
{
	CLEANUP(buffer_deinit) struct buffer extension = { 0 }, thread = { 0 };

	buffer_init(&extension, 1 << 10);
	buffer_init(&thread, 1 << 10);
	pprof_number(&thread, 1, 5);
	pprof_text(&extension, 10, thread.data, thread.size);
	pprof_text(&p->file, PPROF_KELVIN, extension.data, extension.size);
}

static void sample_of_no_thread(struct pprof_bytes *p)
{
	CLEANUP(buffer_deinit) struct buffer extension = { 0 };

	buffer_init(&extension, 1 << 10);
	pprof_text(&extension, 11, "\x07", 1);
	pprof_text(&p->file, PPROF_KELVIN, extension.data, extension.size);
}

/* The extension's thread 0 and sample 0, with a timeline of `events` at the given times. */
static void add_timeline(struct pprof_bytes *p, const int64_t *deltas, size_t count, uint32_t run_events)
{
	CLEANUP(buffer_deinit) struct buffer extension = { 0 }, column = { 0 };

	buffer_init(&extension, 1 << 10);
	buffer_init(&column, 1 << 10);
	pprof_text(&extension, 9, NULL, 0);
	pprof_text(&extension, 10, NULL, 0);
	pprof_text(&extension, 11, "\0", 1);
	pprof_number(&extension, 14, 1);
	pprof_text(&extension, 15, &(char){ (char)run_events }, 1);
	for (size_t i = 0; i < count; i++)
		buffer_append_zigzag(&column, deltas[i]);
	pprof_text(&extension, 16, column.data, column.size);
	pprof_text(&extension, 17, "\0\0\0\0", count);
	pprof_number(&extension, 18, 1000);
	pprof_text(&p->file, PPROF_KELVIN, extension.data, extension.size);
}

static void timeline_before_the_start(struct pprof_bytes *p)
{
	add_timeline(p, (int64_t[]){ -1 }, 1, 1);
}

static void timeline_past_63_bits(struct pprof_bytes *p)
{
	add_timeline(p, (int64_t[]){ INT64_MAX }, 1, 1);
}

static void timeline_longer_than_its_columns(struct pprof_bytes *p)
{
	add_timeline(p, (int64_t[]){ 5 }, 1, 2);
}

static void timeline_of_more_events_than_samples(struct pprof_bytes *p)
{
	add_timeline(p, (int64_t[]){ 5, 1 }, 2, 2);
}

static void timeline_of_fewer_events_than_samples(struct pprof_bytes *p)
{
	add_timeline(p, (int64_t[]){ 5 }, 1, 0);
}

static void timeline_that_goes_back_too_far(struct pprof_bytes *p)
{
	add_timeline(p, (int64_t[]){ 5, -6 }, 2, 2);
}

/* Columns of a byte for each number, in the extension's fields from `first` on. */
static void add_columns(struct pprof_bytes *p, uint32_t first, const char *const *columns, size_t count)
{
	CLEANUP(buffer_deinit) struct buffer extension = { 0 };

	buffer_init(&extension, 1 << 10);
	/* A stack with the file's first location. */
	pprof_text(&extension, 24, "\0", 1);
	pprof_text(&extension, 25, "\0", 1);
	for (uint32_t i = 0; i < count; i++)
		pprof_text(&extension, first + i, columns[i], strlen(columns[i]));
	pprof_text(&p->file, PPROF_KELVIN, extension.data, extension.size);
}

static void locks_of_two_lengths(struct pprof_bytes *p)
{
	add_columns(p, 30, (const char *const[]){ "\1\1", "\1", "\1\1" }, 3);
}

static void lock_of_no_name(struct pprof_bytes *p)
{
	add_columns(p, 30, (const char *const[]){ "\x7f", "\1", "\1" }, 3);
}

static void lock_of_no_module(struct pprof_bytes *p)
{
	add_columns(p, 30, (const char *const[]){ "\1", "\x7f", "\1" }, 3);
}

static void releases_of_two_lengths(struct pprof_bytes *p)
{
	add_columns(p, 33, (const char *const[]){ "\1", "\1", "\1", "\1\1" }, 4);
}

static void release_of_no_stack(struct pprof_bytes *p)
{
	add_columns(p, 30, (const char *const[]){ "\1", "\1", "\1", "\2", "\1", "\1", "\1" }, 7);
}

static void release_by_no_stack(struct pprof_bytes *p)
{
	add_columns(p, 30, (const char *const[]){ "\1", "\1", "\1", "\1", "\1", "\2", "\1" }, 7);
}

static void release_of_no_lock(struct pprof_bytes *p)
{
	add_columns(p, 30, (const char *const[]){ "\1", "\1", "\1", "\1", "\2", "\1", "\1" }, 7);
}

static void release_past_63_bits(struct pprof_bytes *p)
{
	add_columns(p, 30,
		(const char *const[]){ "\1", "\1", "\1", "\1", "\1", "\1", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1" },
		7);
}

static void stack_of_no_location(struct pprof_bytes *p)
{
	add_columns(p, 24, (const char *const[]){ "\1", "\x7f" }, 2);
}

/* One process with a reading and a latency, of which one column holds other bytes. */
static void add_requests(struct pprof_bytes *p, uint32_t spoiled, const char *bytes, size_t size)
{
	enum { WORK = 38, FIRST_COLUMN };
	static const char numbers[] = { 0, 7, 0, 0, 5, 1, 1, 1, 0, 2, 1, 0, 3, 1 };
	CLEANUP(buffer_deinit) struct buffer extension = { 0 };

	buffer_init(&extension, 1 << 10);
	if (spoiled == WORK)
		pprof_text(&extension, WORK, bytes, size);
	else
		pprof_text(&extension, WORK, "\x8\1\x18\1", 4);
	for (uint32_t i = 0; i < sizeof(numbers); i++) {
		bool is_spoiled = spoiled == FIRST_COLUMN + i;

		pprof_text(&extension, FIRST_COLUMN + i, is_spoiled ? bytes : &numbers[i], is_spoiled ? size : 1);
	}
	pprof_text(&p->file, PPROF_KELVIN, extension.data, extension.size);
}

static void requests_that_contradict_themselves_are_refused(void **state)
{
	static const struct {
		uint32_t field;
		const char *bytes;
		size_t size;
		const char *words;
	} cases[] = {
		{ 38, "\x8\4\x18\1", 4, "what counted requests is not valid" },
		{ 38, "\x8\1\x18\0", 4, "what counted requests is not valid" },
		{ 38, "\x8\1\x18\xff\xff\xff\xff\x7f", 8, "what counted requests is not valid" },
		{ 38, "\x8\2\x10\x7f\x18\1", 6, "what counted requests is string 127" },
		{ 38, "", 0, "nothing counted them" },
		{ 39, "\1", 1, "exchanges 0 are malformed" },
		{ 39, "\0\0", 2, "the columns of exchanges do not agree" },
		{ 40, "\xff\xff\xff\xff\xf", 5, "exchanges 0 reference what is not there" },
		{ 41, "\2", 1, "exchanges 0 are malformed" },
		{ 42, "\x7f", 1, "a process's name is string 127" },
		{ 43, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10, "an impossible number of requests" },
		{ 46, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10, "an impossible number of requests" },
		{ 47, "\1", 1, "reading 0 of requests is malformed" },
		{ 48, "\1", 1, "reading 0 of requests is malformed" },
		{ 49, "", 0, "the columns of readings do not agree" },
		{ 50, "\1", 1, "latency 0 is malformed" },
		{ 51, "\xd0\7", 2, "latency 0 is malformed" },
		{ 52, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10, "an impossible number of latencies" },
	};
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct pprof_bytes p;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pprof_bytes_init(&p);
		valid_file(&p);
		add_requests(&p, cases[i].field, cases[i].bytes, cases[i].size);
		pprof_refuse(&p, cases[i].words);
	}
	pprof_bytes_init(&p);
	valid_file(&p);
	add_requests(&p, 0, NULL, 0);
	profile = pprof_read(&p);
	assert_int_equal(profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED), 6);
}

static void contradictions_are_named(void **state)
{
	static const struct {
		void (*spoil)(struct pprof_bytes *p);
		const char *words;
	} cases[] = {
		{ sample_of_no_location, "sample 1 references location 9" },
		{ sample_with_too_few_values, "sample 1 has 0 values for 1 sample types" },
		{ sample_with_too_many_values, "sample 1 has 2 values for 1 sample types" },
		{ sample_with_a_negative_value, "negative value -1: this is a difference" },
		{ samples_that_sum_past_63_bits, "do not fit 63 bits" },
		{ location_of_no_function, "location 2 references function 8" },
		{ location_twice, "location id 1 is there twice" },
		{ location_with_the_id_0, "location 1 has the id 0" },
		{ function_twice, "function id 1 is there twice" },
		{ function_with_the_id_0, "function 1 has the id 0" },
		{ mapping_twice, "mapping id 1 is there twice" },
		{ mapping_with_the_id_0, "mapping 1 has the id 0" },
		{ function_with_a_string_that_is_not_there, "function's name is string 1000" },
		{ function_with_a_negative_string, "function's file is string -1" },
		{ mapping_with_a_string_that_is_not_there, "mapping's file is string 1000" },
		{ sample_type_with_a_string_that_is_not_there, "sample type is string 1000" },
		{ more_sample_types_than_are_held, "more than 16 value types" },
		{ field_that_runs_past_the_end, "cut off" },
		{ field_of_2_to_the_64, "cut off" },
		{ field_of_no_wire_type, "cut off" },
		{ extension_of_the_future, "of version 2, this kelvin knows 1; use the kelvin that recorded it" },
		{ thread_of_no_run, "thread 0 references run 5" },
		{ sample_of_no_thread, "sample 0 references thread 7" },
		{ timeline_before_the_start, "event 0 of the timeline" },
		{ timeline_past_63_bits, "event 0 of the timeline" },
		{ timeline_longer_than_its_columns, "longer than its columns" },
		{ timeline_of_more_events_than_samples, "timeline" },
		{ timeline_of_fewer_events_than_samples, "timeline" },
		{ timeline_that_goes_back_too_far, "event 1 of the timeline" },
		{ stack_of_no_location, "stack 2 is malformed" },
		{ locks_of_two_lengths, "the columns of locks do not agree" },
		{ lock_of_no_name, "the name of a lock is string 127" },
		{ lock_of_no_module, "the module of a lock is string 127" },
		{ releases_of_two_lengths, "the columns of releases do not agree" },
		{ release_of_no_stack, "release 0 is malformed" },
		{ release_by_no_stack, "release 0 is malformed" },
		{ release_of_no_lock, "release 0 is malformed" },
		{ release_past_63_bits, "release 0 is malformed" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pprof_bytes p;

		pprof_bytes_init(&p);
		valid_file(&p);
		cases[i].spoil(&p);
		buffer_append(&p.strings, p.file.data, p.file.size);
		expect_refused(p.strings.data, p.strings.size, 0, cases[i].words);
		pprof_bytes_deinit(&p);
	}
}

static void a_file_without_sample_types_is_refused(void **state)
{
	struct pprof_bytes p;

	pprof_bytes_init(&p);
	pprof_mapping(&p, 1, 0x1000, "/srv/app", "abcd");
	pprof_refuse(&p, "names no sample type");
}

static void the_first_string_must_be_empty(void **state)
{
	struct pprof_bytes p;

	pprof_bytes_init(&p);
	pprof_text(&p.file, PPROF_STRING, "first", 5);
	valid_file(&p);
	pprof_refuse(&p, "string table does not start with an empty string");
}

/* A gigabyte of zeros in a megabyte. */
static void a_gzip_bomb_costs_little(void **state)
{
	CLEANUP(buffer_deinit) struct buffer bomb = { 0 }, zeros = { 0 };
	struct error err;

	buffer_init(&bomb, 1 << 27);
	buffer_init(&zeros, 1 << 27);
	memset(buffer_reserve(&zeros, 1 << 26), 0, 1 << 26);
	buffer_commit(&zeros, 1 << 26);
	for (int i = 0; i < 16; i++)
		assert_true(gzip_compress(zeros.data, zeros.size, &bomb, &err));
	assert_true(bomb.size < 1 << 21);
	expect_refused(bomb.data, bomb.size, ERROR_LIMIT, "inflates to more than");
}

/* 9 million frames of stacks that share nothing, in some 10 kB. */
static void frames_out_of_nothing_are_refused(void **state)
{
	enum { SAMPLES = 300, DEPTH = 30000 };
	CLEANUP(buffer_deinit) struct buffer packed = { 0 }, locations = { 0 }, sample = { 0 };
	struct pprof_bytes p;
	struct error err;

	pprof_bytes_init(&p);
	p.file.max_bytes = 1 << 28;
	valid_file(&p);
	buffer_init(&locations, DEPTH);
	buffer_init(&sample, 2 * DEPTH);
	buffer_init(&packed, 1 << 28);
	memset(buffer_reserve(&locations, DEPTH), 1, DEPTH);
	buffer_commit(&locations, DEPTH);
	for (uint8_t id = 2; id < 100; id++)
		pprof_location(&p, id, 0, 0x1000 + id, (const uint64_t[]){ 1, 0 });
	for (size_t i = 0; i < SAMPLES; i++) {
		/* The outermost two frames differ. */
		locations.data[DEPTH - 1] = (char)(2 + i % 98);
		locations.data[DEPTH - 2] = (char)(2 + i / 98);
		sample.size = 0;
		pprof_text(&sample, 1, locations.data, DEPTH);
		pprof_text(&sample, 2, "\1", 1);
		pprof_text(&p.file, PPROF_SAMPLE, sample.data, sample.size);
	}
	pprof_finish(&p);
	assert_true(gzip_compress(p.file.data, p.file.size, &packed, &err));
	assert_true(packed.size < 1 << 18);
	expect_refused(packed.data, packed.size, ERROR_LIMIT, "different stack frames");
	pprof_bytes_deinit(&p);
}

static void what_follows_the_gzip_data_is_refused(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made);

	buffer_append(&file, "garbage", 7);
	expect_refused(file.data, file.size, ERROR_FORMAT, "7 bytes");
	file.size -= 7;
	/* Tapes and block devices pad with zeros; gzip(1) skips them too. */
	buffer_append(&file, "\0\0\0\0", 4);
	profile_destroy(read_profile(file.data, file.size));
}

/* What says of itself that it inflates to 4 GB does not get them in advance. */
static void a_false_size_is_survived(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made);

	memset(file.data + file.size - 4, 0xff, 4);
	expect_refused(file.data, file.size, ERROR_FORMAT, "damaged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contradictions_are_named),
		cmocka_unit_test(requests_that_contradict_themselves_are_refused),
		cmocka_unit_test(a_file_without_sample_types_is_refused),
		cmocka_unit_test(the_first_string_must_be_empty),
		cmocka_unit_test(a_gzip_bomb_costs_little),
		cmocka_unit_test(frames_out_of_nothing_are_refused),
		cmocka_unit_test(what_follows_the_gzip_data_is_refused),
		cmocka_unit_test(a_false_size_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
