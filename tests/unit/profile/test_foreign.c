/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Field numbers of pprof's profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, PERIOD_TYPE = 11, PERIOD, DEFAULT_SAMPLE_TYPE = 14 };

/* Strings of every file made here, by number. */
enum { EMPTY, SAMPLES, COUNT, CPU, NANOSECONDS, PROGRAM, MAIN, WORK, FILE_NAME, TID, KERNEL, BUILD_ID, STRING_COUNT };
static const char *const strings[] = { "", "samples", "count", "cpu", "nanoseconds", "/srv/libwork.so.3", "main", "work", "work.c",
	"tid", "[kernel.kallsyms]", "abcd" };

/* A profile in the making; what a test wants wrong it adds itself. */
struct file {
	struct buffer bytes, part, inner;
};

static void file_init(struct file *file)
{
	buffer_init(&file->bytes, 1 << 24);
	buffer_init(&file->part, 1 << 20);
	buffer_init(&file->inner, 1 << 20);
}

static void file_deinit(struct file *file)
{
	buffer_deinit(&file->bytes);
	buffer_deinit(&file->part);
	buffer_deinit(&file->inner);
}

static void add_strings(struct file *file)
{
	for (size_t i = 0; i < STRING_COUNT; i++)
		protobuf_string(&file->bytes, STRING, strings[i]);
}

static void add_value_type(struct file *file, unsigned int field, uint64_t type, uint64_t unit)
{
	protobuf_varint(&file->part, 1, type);
	protobuf_varint(&file->part, 2, unit);
	protobuf_message(&file->bytes, field, &file->part);
}

static void add_mapping(struct file *file, uint64_t id, uint64_t path)
{
	protobuf_varint(&file->part, 1, id);
	protobuf_varint(&file->part, 2, 0x1000);
	protobuf_varint(&file->part, 3, 0x9000);
	protobuf_varint(&file->part, 5, path);
	protobuf_message(&file->bytes, MAPPING, &file->part);
}

static void add_function(struct file *file, uint64_t id, uint64_t name)
{
	protobuf_varint(&file->part, 1, id);
	protobuf_varint(&file->part, 2, name);
	protobuf_varint(&file->part, 4, FILE_NAME);
	protobuf_message(&file->bytes, FUNCTION, &file->part);
}

/* `function` 0: without a line. */
static void add_location(struct file *file, uint64_t id, uint64_t mapping, uint64_t address, uint64_t function)
{
	protobuf_varint(&file->part, 1, id);
	protobuf_varint(&file->part, 2, mapping);
	protobuf_varint(&file->part, 3, address);
	if (function) {
		protobuf_varint(&file->inner, 1, function);
		protobuf_varint(&file->inner, 2, 12);
		protobuf_message(&file->part, 4, &file->inner);
	}
	protobuf_message(&file->bytes, LOCATION, &file->part);
}

/* The leaf first; one value of each type. Unpacked, as the oldest writers do. */
static void add_sample(
	struct file *file, const uint64_t *locations, size_t location_count, const int64_t *values, size_t value_count)
{
	for (size_t i = 0; i < location_count; i++)
		protobuf_varint(&file->part, 1, locations[i]);
	for (size_t i = 0; i < value_count; i++)
		protobuf_varint(&file->part, 2, (uint64_t)values[i]);
	protobuf_message(&file->bytes, SAMPLE, &file->part);
}

/* samples/count and cpu/nanoseconds, main calling work, three samples of 10 ms each. */
static void make_good(struct file *file)
{
	add_strings(file);
	add_value_type(file, SAMPLE_TYPE, SAMPLES, COUNT);
	add_value_type(file, SAMPLE_TYPE, CPU, NANOSECONDS);
	add_mapping(file, 7, PROGRAM);
	add_function(file, 70, MAIN);
	add_function(file, 71, WORK);
	add_location(file, 700, 7, 0x1234, 70);
	add_location(file, 701, 7, 0x2234, 71);
	add_sample(file, (uint64_t[]){ 701, 700 }, 2, (int64_t[]){ 3, 30000000 }, 2);
}

static struct profile *read_file(const struct file *file)
{
	struct profile *profile = NULL;
	struct error err;

	if (!profile_read(file->bytes.data, file->bytes.size, "other.pprof", &profile, &err))
		fail_msg("%s", err.message);
	return profile;
}

static const char *frame_name(const struct profile *profile, uint32_t stack)
{
	const struct profile_location *location = &profile->locations[profile->stacks[stack].location];

	return profile_string(profile, profile->functions[profile->lines[location->first_line].function].name);
}

static void a_plain_file_of_another_tool_is_read(void **state)
{
	struct profile *profile;
	struct file file;

	(void)state;
	file_init(&file);
	make_good(&file);
	profile = read_file(&file);
	assert_int_equal(profile->sample_count, 1);
	assert_int_equal(profile->values[0], 3);
	assert_int_equal(profile->values[1], 30000000);
	assert_int_equal(profile->default_value_type, 1);
	assert_string_equal(frame_name(profile, profile->samples[0].stack), "work");
	assert_string_equal(frame_name(profile, profile->stacks[profile->samples[0].stack].parent), "main");
	assert_string_equal(profile_string(profile, profile->functions[0].key), "main`libwork.so");
	assert_int_equal(profile->quality.samples, 3);
	assert_false(profile->has_timeline);
	assert_int_equal(profile->run_count, 1);
	profile_destroy(profile);
	file_deinit(&file);
}

static void a_file_without_counts_gets_them_from_its_period(void **state)
{
	struct profile *profile;
	struct file file;

	(void)state;
	file_init(&file);
	add_strings(&file);
	add_value_type(&file, SAMPLE_TYPE, CPU, NANOSECONDS);
	add_value_type(&file, PERIOD_TYPE, CPU, NANOSECONDS);
	protobuf_varint(&file.bytes, PERIOD, 10000000);
	add_function(&file, 1, MAIN);
	add_location(&file, 1, 0, 0, 1);
	add_sample(&file, (uint64_t[]){ 1 }, 1, (int64_t[]){ 50000000 }, 1);
	profile = read_file(&file);
	assert_int_equal(profile->value_type_count, 2);
	assert_int_equal(profile->values[0], 5);
	assert_int_equal(profile->values[1], 50000000);
	profile_destroy(profile);
	file_deinit(&file);
}

static void locations_without_lines_are_named_by_address(void **state)
{
	struct profile *profile;
	struct file file;

	(void)state;
	file_init(&file);
	add_strings(&file);
	add_value_type(&file, SAMPLE_TYPE, SAMPLES, COUNT);
	add_mapping(&file, 1, PROGRAM);
	add_mapping(&file, 2, KERNEL);
	add_location(&file, 1, 1, 0x1500, 0);
	add_location(&file, 2, 2, 0xffffffff81000000, 0);
	add_sample(&file, (uint64_t[]){ 2, 1 }, 2, (int64_t[]){ 1 }, 1);
	profile = read_file(&file);
	assert_string_equal(frame_name(profile, profile->stacks[profile->samples[0].stack].parent), "libwork.so+0x1500");
	assert_int_equal(profile->mappings[1].kind, PROFILE_MAPPING_KERNEL);
	profile_destroy(profile);
	file_deinit(&file);
}

static void packed_numbers_are_the_same(void **state)
{
	struct buffer numbers;
	struct profile *profile;
	struct file file;

	(void)state;
	file_init(&file);
	buffer_init(&numbers, 1 << 10);
	make_good(&file);
	buffer_append_varint(&numbers, 701);
	buffer_append_varint(&numbers, 700);
	protobuf_message(&file.part, 1, &numbers);
	buffer_append_varint(&numbers, 2);
	buffer_append_varint(&numbers, 20000000);
	protobuf_message(&file.part, 2, &numbers);
	protobuf_message(&file.bytes, SAMPLE, &file.part);
	profile = read_file(&file);
	assert_int_equal(profile->sample_count, 1);
	assert_int_equal(profile->values[0], 5);
	assert_int_equal(profile->values[1], 50000000);
	profile_destroy(profile);
	buffer_deinit(&numbers);
	file_deinit(&file);
}

static void unknown_fields_are_skipped(void **state)
{
	struct profile *profile;
	struct file file;

	(void)state;
	file_init(&file);
	make_good(&file);
	protobuf_varint(&file.bytes, 99, 5);
	protobuf_string(&file.bytes, 12345, "from the future");
	profile = read_file(&file);
	assert_int_equal(profile->sample_count, 1);
	profile_destroy(profile);
	file_deinit(&file);
}

static void the_default_sample_type_is_honoured(void **state)
{
	struct profile *profile;
	struct file file;

	(void)state;
	file_init(&file);
	make_good(&file);
	protobuf_varint(&file.bytes, DEFAULT_SAMPLE_TYPE, SAMPLES);
	profile = read_file(&file);
	assert_int_equal(profile->default_value_type, 0);
	profile_destroy(profile);
	file_deinit(&file);
}

static void expect_refused(const struct file *file, const char *words)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	assert_false(profile_read(file->bytes.data, file->bytes.size, "other.pprof", &profile, &err));
	assert_null(profile);
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_non_null(strstr(err.message, "other.pprof"));
	if (!strstr(err.message, words))
		fail_msg("'%s' does not say '%s'", err.message, words);
}

static void add_string_out_of_range(struct file *file)
{
	add_function(file, 90, 4711);
	add_location(file, 900, 7, 0x3000, 90);
}

static void add_negative_string(struct file *file)
{
	add_function(file, 90, (uint64_t)-1);
	add_location(file, 900, 7, 0x3000, 90);
}

static void add_missing_function(struct file *file)
{
	add_location(file, 900, 7, 0x3000, 4711);
}

static void add_missing_mapping(struct file *file)
{
	add_location(file, 900, 4711, 0x3000, 70);
}

static void add_missing_location(struct file *file)
{
	add_sample(file, (uint64_t[]){ 4711 }, 1, (int64_t[]){ 1, 1 }, 2);
}

static void add_id_zero(struct file *file)
{
	add_location(file, 0, 7, 0x3000, 70);
}

static void add_id_twice(struct file *file)
{
	add_function(file, 70, WORK);
}

static void add_too_few_values(struct file *file)
{
	add_sample(file, (uint64_t[]){ 700 }, 1, (int64_t[]){ 1 }, 1);
}

static void add_too_many_values(struct file *file)
{
	add_sample(file, (uint64_t[]){ 700 }, 1, (int64_t[]){ 1, 2, 3 }, 3);
}

static void add_negative_value(struct file *file)
{
	add_sample(file, (uint64_t[]){ 700 }, 1, (int64_t[]){ 1, -5 }, 2);
}

static void add_sum_that_overflows(struct file *file)
{
	add_sample(file, (uint64_t[]){ 700 }, 1, (int64_t[]){ 1, INT64_MAX }, 2);
	add_sample(file, (uint64_t[]){ 701 }, 1, (int64_t[]){ 1, INT64_MAX }, 2);
}

static void add_cut_field(struct file *file)
{
	buffer_append_varint(&file->bytes, SAMPLE << 3 | 2);
	buffer_append_varint(&file->bytes, 1000);
}

static void what_contradicts_itself_is_refused_with_its_place(void **state)
{
	static const struct {
		void (*add)(struct file *file);
		const char *words;
	} cases[] = {
		{ add_string_out_of_range, "string 4711" },
		{ add_negative_string, "string -1" },
		{ add_missing_function, "location 900 references function 4711" },
		{ add_missing_mapping, "location 900 references mapping 4711" },
		{ add_missing_location, "sample 1 references location 4711" },
		{ add_id_zero, "location 2 has the id 0" },
		{ add_id_twice, "function id 70 is there twice" },
		{ add_too_few_values, "sample 1 has 1 values for 2" },
		{ add_too_many_values, "sample 1 has 3 values for 2" },
		{ add_negative_value, "negative value -5" },
		{ add_sum_that_overflows, "do not fit" },
		{ add_cut_field, "cut off" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct file file;

		file_init(&file);
		make_good(&file);
		cases[i].add(&file);
		expect_refused(&file, cases[i].words);
		file_deinit(&file);
	}
}

static void a_file_needs_a_sample_type_and_an_empty_first_string(void **state)
{
	struct file file;

	(void)state;
	file_init(&file);
	add_strings(&file);
	add_function(&file, 1, MAIN);
	expect_refused(&file, "no sample type");
	file_deinit(&file);
	file_init(&file);
	add_value_type(&file, SAMPLE_TYPE, 0, 0);
	protobuf_string(&file.bytes, STRING, "not empty");
	expect_refused(&file, "string");
	file_deinit(&file);
}

/* A hundred thousand sample types, locations in one sample, or lines in one location: refused or read, in bounded memory. */
static void large_counts_are_bounded(void **state)
{
	struct file file;

	(void)state;
	file_init(&file);
	add_strings(&file);
	for (int i = 0; i < 100000; i++)
		add_value_type(&file, SAMPLE_TYPE, CPU, NANOSECONDS);
	{
		struct profile *profile = NULL;
		struct error err = { 0 };

		assert_false(profile_read(file.bytes.data, file.bytes.size, "other.pprof", &profile, &err));
		assert_int_equal(err.code, ERROR_LIMIT);
	}
	file_deinit(&file);
	file_init(&file);
	make_good(&file);
	for (int i = 0; i < 100000; i++)
		protobuf_varint(&file.part, 1, 700);
	protobuf_varint(&file.part, 2, 1);
	protobuf_varint(&file.part, 2, 1);
	protobuf_message(&file.bytes, SAMPLE, &file.part);
	profile_destroy(read_file(&file));
	file_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_file_of_another_tool_is_read),
		cmocka_unit_test(a_file_without_counts_gets_them_from_its_period),
		cmocka_unit_test(locations_without_lines_are_named_by_address),
		cmocka_unit_test(packed_numbers_are_the_same),
		cmocka_unit_test(unknown_fields_are_skipped),
		cmocka_unit_test(the_default_sample_type_is_honoured),
		cmocka_unit_test(what_contradicts_itself_is_refused_with_its_place),
		cmocka_unit_test(a_file_needs_a_sample_type_and_an_empty_first_string),
		cmocka_unit_test(large_counts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
