/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * READS | pprof | the crate pprof 0.14 (Rust), by a recording of it | each value of each stack
 */
#include "pprof_bytes.h"
#include "profile_fixture.h"

#include "common/gzip.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* A file as Go's runtime/pprof shapes it: main > work(inlined in outer), 3 samples at 10 ms. */
static void small_file(struct pprof_bytes *p)
{
	pprof_value_type(p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_value_type(p, PPROF_SAMPLE_TYPE, "cpu", "nanoseconds");
	pprof_value_type(p, PPROF_PERIOD_TYPE, "cpu", "nanoseconds");
	pprof_number(&p->file, PPROF_PERIOD, 10000000);
	pprof_mapping(p, 1, 0x400000, "/srv/app", "abcd");
	pprof_function(p, 1, "main.main");
	pprof_function(p, 2, "main.work");
	pprof_function(p, 3, "main.outer");
	pprof_location(p, 1, 1, 0x401000, (uint64_t[]){ 1, 0 });
	pprof_location(p, 2, 1, 0x402000, (uint64_t[]){ 2, 3, 0 });
	pprof_sample(p, &(struct pprof_sample){ .locations = { 2, 1 }, .values = { 3, 30000000 }, .value_count = 2 });
}

static const char *name_of(const struct profile *profile, uint32_t location, uint32_t line)
{
	const struct profile_location *at = &profile->locations[location];

	assert_true(line < at->line_count);
	return profile_string(profile, profile->functions[profile->lines[at->first_line + line].function].name);
}

static void assert_small_file(const struct profile *profile)
{
	assert_int_equal(profile->value_type_count, 2);
	assert_int_equal(profile->default_value_type, 1);
	assert_int_equal(profile->period, 10000000);
	assert_int_equal(profile->sample_count, 1);
	assert_int_equal(profile_sum(profile, 0), 3);
	assert_int_equal(profile_sum(profile, 1), 30000000);
	assert_int_equal(profile->quality.samples, 3);
	assert_true(profile_quality_whole_percent(&profile->quality) == 100.0);
	assert_int_equal(profile->stack_count, 3);
	assert_string_equal(name_of(profile, profile->stacks[1].location, 0), "main.main");
	assert_string_equal(name_of(profile, profile->stacks[2].location, 0), "main.work");
	assert_string_equal(name_of(profile, profile->stacks[2].location, 1), "main.outer");
	assert_string_equal(profile_string(profile, profile->functions[0].module), "app");
	assert_int_equal(profile->functions[0].name_source, PROFILE_NAME_IMPORTED);
	assert_false(profile->has_timeline);
}

static void repeated_numbers_are_read_packed_and_not(void **state)
{
	for (int packed = 0; packed < 2; packed++) {
		struct pprof_bytes p;
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		pprof_bytes_init(&p);
		p.packed = packed;
		small_file(&p);
		profile = pprof_read(&p);
		assert_small_file(profile);
	}
}

/* Numbers of one, two and three bytes, of which the ends are the same: 0x82 0x01 (130), 0x01 (1), 0x81 0x82 0x01
 * (16641). */
static const uint64_t location_ids[] = { 1, 2, 127, 128, 129, 130, 257, 16385, 16513, 16641 };
enum { LOCATIONS = sizeof(location_ids) / sizeof(location_ids[0]), STACKS = 3000 };

/* The next of many stacks, most of which end as the one before did. */
static void change_stack(struct pprof_sample *sample, uint64_t *state)
{
	uint64_t path[PPROF_MAX_DEPTH] = { 0 };
	size_t depth = 0, kept, fresh;

	while (depth < PPROF_MAX_DEPTH - 1 && sample->locations[depth])
		depth++;
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	kept = depth ? (*state >> 33) % (depth + 1) : 0;
	fresh = (*state >> 40) % (PPROF_MAX_DEPTH - kept);
	for (size_t i = 0; i < fresh; i++)
		path[i] = location_ids[(*state >> (20 + i)) % LOCATIONS];
	memcpy(path + fresh, sample->locations + depth - kept, kept * sizeof(*path));
	memcpy(sample->locations, path, sizeof(path));
}

static void assert_stack(const struct profile *profile, uint32_t stack, const uint64_t *ids)
{
	for (; *ids; ids++, stack = profile->stacks[stack].parent) {
		assert_int_not_equal(stack, 0);
		assert_int_equal(profile->locations[profile->stacks[stack].location].address, *ids);
	}
	assert_int_equal(stack, 0);
}

static void stacks_share_whole_frames_only(void **state)
{
	struct pprof_sample sample = { .values = { 1 }, .value_count = 1 };
	uint64_t random = 42;
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_function(&p, 1, "f");
	for (size_t i = 0; i < LOCATIONS; i++)
		pprof_location(&p, location_ids[i], 0, location_ids[i], (uint64_t[]){ 1, 0 });
	for (size_t i = 0; i < STACKS; i++) {
		change_stack(&sample, &random);
		p.packed = i % 5 != 0;
		sample.labels[0].key = "tid";
		sample.labels[0].number = (int64_t)i;
		pprof_sample(&p, &sample);
	}
	profile = pprof_read(&p);
	assert_int_equal(profile->sample_count, STACKS);
	memset(sample.locations, 0, sizeof(sample.locations));
	random = 42;
	for (size_t i = 0; i < STACKS; i++) {
		change_stack(&sample, &random);
		assert_stack(profile, profile->samples[i].stack, sample.locations);
	}
}

static void a_file_is_read_bare_gzipped_and_in_several_members(void **state)
{
	struct pprof_bytes p;
	CLEANUP(buffer_deinit) struct buffer gzipped = { 0 };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	pprof_bytes_init(&p);
	small_file(&p);
	pprof_finish(&p);
	buffer_init(&gzipped, 1 << 20);
	assert_true(gzip_compress(p.file.data, 50, &gzipped, &err));
	assert_true(gzip_compress(p.file.data + 50, p.file.size - 50, &gzipped, &err));
	profile = read_profile(gzipped.data, gzipped.size);
	assert_small_file(profile);
	pprof_bytes_deinit(&p);
}

/* Protobuf does not promise an order: here the strings come before what refers to them. */
static void order_of_fields_does_not_matter(void **state)
{
	struct pprof_bytes p;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	small_file(&p);
	buffer_init(&file, 1 << 20);
	buffer_append(&file, p.strings.data, p.strings.size);
	buffer_append(&file, p.file.data, p.file.size);
	profile = read_profile(file.data, file.size);
	assert_small_file(profile);
	pprof_bytes_deinit(&p);
}

/* Unknown fields of every wire type are skipped, at the top and within messages. */
static void unknown_fields_are_skipped(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	small_file(&p);
	pprof_number(&p.file, 77, UINT64_MAX);
	pprof_text(&p.file, 78, "anything", 8);
	buffer_append_varint(&p.file, 79 << 3 | 1);
	buffer_append(&p.file, "12345678", 8);
	buffer_append_varint(&p.file, 80 << 3 | 5);
	buffer_append(&p.file, "1234", 4);
	profile = pprof_read(&p);
	assert_small_file(profile);
}

/* perf_data_converter: `cycles_sample` counts, `cycles_event` weighs; ids are hashes; frames without names. */
static void perf_to_profile_is_read(void **state)
{
	const uint64_t kernel = 0xfedcba9876543210, program = 0x8000000000000001;
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "cycles_sample", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "cycles_event", "count");
	pprof_mapping(&p, program, 0x1000, "/usr/lib/libz.so.1.2.13", "ff");
	pprof_mapping(&p, kernel, 0xffffffff80000000, "[kernel.kallsyms]", "");
	pprof_location(&p, UINT64_MAX, kernel, 0xffffffff80001000, (uint64_t[]){ 0 });
	pprof_location(&p, 17, program, 0x1234, (uint64_t[]){ 0 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { UINT64_MAX, 17 },
				 .values = { 5, 123456 },
				 .value_count = 2,
				 .labels = { { "pid", NULL, 12 }, { "tid", NULL, 13 }, { "comm", "zip", 0 } } });
	profile = pprof_read(&p);
	assert_string_equal(profile_string(profile, profile->value_types[0].type), "samples");
	assert_string_equal(profile_string(profile, profile->value_types[1].type), "cycles_event");
	assert_int_equal(profile_sum(profile, 0), 5);
	assert_int_equal(profile_sum(profile, 1), 123456);
	assert_int_equal(profile->mappings[1].kind, PROFILE_MAPPING_KERNEL);
	assert_string_equal(name_of(profile, profile->stacks[1].location, 0), "libz.so+0x1234");
	assert_string_equal(profile_string(profile, profile->functions[1].key), "[unnamed]`libz.so");
	assert_int_equal(profile->threads[0].pid, 12);
	assert_int_equal(profile->threads[0].tid, 13);
	assert_string_equal(profile_string(profile, profile->threads[0].process_name), "zip");
}

/* Node's writer: `sample`/`count`, no mapping, all addresses 0, a location a line. */
static void files_without_mappings_and_addresses_are_read(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "sample", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "wall", "nanoseconds");
	pprof_function(&p, 1, "(anonymous)");
	pprof_function(&p, 2, "render");
	pprof_location(&p, 1, 0, 0, (uint64_t[]){ 1, 0 });
	pprof_location(&p, 2, 0, 0, (uint64_t[]){ 2, 0 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 2, 1 }, .values = { 4, 40 }, .value_count = 2 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 1 }, .values = { 1, 10 }, .value_count = 2 });
	profile = pprof_read(&p);
	assert_int_equal(profile->value_type_count, 2);
	assert_int_equal(profile_sum(profile, 0), 5);
	assert_int_equal(profile->location_count, 2);
	assert_int_equal(profile->stack_count, 3);
	assert_string_equal(name_of(profile, profile->stacks[2].location, 0), "render");
}

/* Of a mapping that is not there only the module is lost; what the file asks to leave out is shown, and said. */
static void what_the_tables_lack_is_noted(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_function(&p, 1, "f");
	pprof_location(&p, 1, 7, 0x1200, (uint64_t[]){ 1, 0 });
	pprof_location(&p, 2, 0, 0x401000, (uint64_t[]){ 0 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 2, 1 }, .values = { 4 }, .value_count = 1 });
	pprof_number(&p.file, PPROF_DROP_FRAMES, (uint64_t)pprof_string(&p, "malloc|calloc"));
	profile = pprof_read(&p);
	assert_int_equal(profile_sum(profile, 0), 4);
	assert_string_equal(name_of(profile, profile->stacks[1].location, 0), "f");
	assert_string_equal(name_of(profile, profile->stacks[2].location, 0), "0x401000");
	assert_int_equal(profile->notes.count, 2);
	assert_non_null(strstr(profile_string(profile, profile->notes.texts[0]), "1 of its locations"));
	assert_non_null(strstr(profile_string(profile, profile->notes.texts[1]), "'malloc|calloc' (drop_frames)"));
	assert_true(profile->notes.are_doubts[0] && !profile->notes.are_doubts[1]);
}

static void the_default_sample_type_is_honoured(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	small_file(&p);
	pprof_number(&p.file, PPROF_DEFAULT_TYPE, (uint64_t)pprof_string(&p, "samples"));
	profile = pprof_read(&p);
	assert_int_equal(profile->default_value_type, 0);
}

/* Code made at run time: one address holds two functions in turn. Neither may take the other's samples. */
static void an_address_with_two_names_is_two_places(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_function(&p, 1, "first");
	pprof_function(&p, 2, "second");
	pprof_location(&p, 1, 0, 0x1000, (uint64_t[]){ 1, 0 });
	pprof_location(&p, 2, 0, 0x1000, (uint64_t[]){ 2, 0 });
	pprof_location(&p, 3, 0, 0x1000, (uint64_t[]){ 1, 0 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 1 }, .values = { 1 }, .value_count = 1 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 2 }, .values = { 2 }, .value_count = 1 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 3 }, .values = { 4 }, .value_count = 1 });
	profile = pprof_read(&p);
	assert_int_equal(profile->sample_count, 2);
	assert_string_equal(name_of(profile, profile->stacks[profile->samples[0].stack].location, 0), "first");
	assert_string_equal(name_of(profile, profile->stacks[profile->samples[1].stack].location, 0), "second");
	assert_int_equal(profile->values[0], 5);
	assert_int_equal(profile->values[1], 2);
}

/* Files that do not count samples: how many there were is told by the value that the period is of, if one is. */
static void samples_are_counted_by_the_period(void **state)
{
	static const struct {
		const char *type, *unit, *period_type, *period_unit;
		uint64_t period;
		int64_t value, count;
	} cases[] = {
		{ "cpu", "nanoseconds", "cpu", "nanoseconds", 10000, 35000, 4 },
		{ "cpu", "nanoseconds", "cpu", "nanoseconds", 10000, 4000, 1 },
		{ "cpu", "nanoseconds", "", "", 10000, 30000, 3 },
		/* A nanosecond is only the unit: nothing is sampled as often. */
		{ "wall", "nanoseconds", "wall", "nanoseconds", 1, 4350000000, 1 },
		{ "cpu", "nanoseconds", "cpu", "nanoseconds", 0, 30, 1 },
		{ "inuse_space", "bytes", "space", "bytes", 512, 1024, 1 },
		{ "delay", "nanoseconds", "contentions", "count", 1, 123456789, 1 },
		{ "cpu", "nanoseconds", "cpu", "nanoseconds", (uint64_t)INT64_MAX, INT64_MAX, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pprof_bytes p;
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		pprof_bytes_init(&p);
		pprof_value_type(&p, PPROF_SAMPLE_TYPE, cases[i].type, cases[i].unit);
		pprof_value_type(&p, PPROF_PERIOD_TYPE, cases[i].period_type, cases[i].period_unit);
		pprof_number(&p.file, PPROF_PERIOD, cases[i].period);
		pprof_sample(&p, &(struct pprof_sample){ .values = { cases[i].value }, .value_count = 1 });
		profile = pprof_read(&p);
		assert_int_equal(profile->value_type_count, 2);
		assert_int_equal(profile->default_value_type, 1);
		assert_int_equal(profile_sum(profile, 1), cases[i].value);
		if (profile_sum(profile, 0) != cases[i].count)
			fail_msg("case %zu counts %lld samples, expected %lld", i, (long long)profile_sum(profile, 0),
				(long long)cases[i].count);
	}
}

/* Node counts microseconds. They are kept in nanoseconds, and compared with those of others. */
static void times_are_kept_in_nanoseconds(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "wall", "microseconds");
	pprof_value_type(&p, PPROF_PERIOD_TYPE, "wall", "microseconds");
	pprof_number(&p.file, PPROF_PERIOD, 1000);
	pprof_sample(&p, &(struct pprof_sample){ .values = { 3000 }, .value_count = 1 });
	profile = pprof_read(&p);
	assert_int_equal(profile_find_metric(profile, "wall", "nanoseconds"), 1);
	assert_string_equal(profile_string(profile, profile->period_type.unit), "nanoseconds");
	assert_int_equal(profile->period, 1000000);
	assert_int_equal(profile_sum(profile, 1), 3000000);
	assert_int_equal(profile_sum(profile, 0), 3);

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "wall", "seconds");
	pprof_sample(&p, &(struct pprof_sample){ .values = { INT64_MAX / 1000 }, .value_count = 1 });
	pprof_refuse(&p, "sample 0 has a value that is too large");
}

/* A name may hold any byte, and ends where the file says. */
static void a_name_with_a_zero_is_whole(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_function(&p, 1, "name");
	pprof_location(&p, 1, 0, 0x1000, (uint64_t[]){ 1, 0 });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 1 }, .values = { 1 }, .value_count = 1 });
	*(char *)memmem(p.strings.data, p.strings.size, "name", 4) = '\0';
	profile = pprof_read(&p);
	assert_string_equal(name_of(profile, profile->stacks[1].location, 0), " ame");
}

/* Recorded by Go's own runtime/pprof: see data/README.md. */
static void a_recording_of_go_is_read(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/go.pb.gz");
	bool found = false;

	assert_string_equal(profile_string(profile, profile->value_types[1].type), "cpu");
	assert_int_equal(profile->default_value_type, 1);
	assert_int_equal(profile->period, 10000000);
	assert_true(profile_sum(profile, 0) > 50);
	assert_int_equal(profile_sum(profile, 1), profile_sum(profile, 0) * 10000000);
	assert_true(profile->runs[0].start_unix_ns > 0 && profile->runs[0].duration_ns > 0);
	for (size_t i = 0; i < profile->function_count; i++)
		found |= strcmp(profile_string(profile, profile->functions[i].key), "main.burn`burn") == 0;
	assert_true(found);
}

/* Recorded by the crate pprof: bare and without mappings. */
static void a_recording_of_rust_is_read(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/rust.pprof");
	bool found = false;

	assert_int_equal(profile->value_type_count, 2);
	assert_string_equal(profile_string(profile, profile->value_types[1].unit), "nanoseconds");
	assert_true(profile_sum(profile, 0) > 5);
	assert_int_equal(profile_sum(profile, 1), profile_sum(profile, 0) * 10000000);
	assert_int_equal(profile->mapping_count, 0);
	for (size_t i = 0; i < profile->function_count; i++)
		found |= strcmp(profile_string(profile, profile->functions[i].key), "burn::burn`") == 0;
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_numbers_are_read_packed_and_not),
		cmocka_unit_test(stacks_share_whole_frames_only),
		cmocka_unit_test(a_file_is_read_bare_gzipped_and_in_several_members),
		cmocka_unit_test(order_of_fields_does_not_matter),
		cmocka_unit_test(unknown_fields_are_skipped),
		cmocka_unit_test(perf_to_profile_is_read),
		cmocka_unit_test(files_without_mappings_and_addresses_are_read),
		cmocka_unit_test(what_the_tables_lack_is_noted),
		cmocka_unit_test(the_default_sample_type_is_honoured),
		cmocka_unit_test(an_address_with_two_names_is_two_places),
		cmocka_unit_test(samples_are_counted_by_the_period),
		cmocka_unit_test(times_are_kept_in_nanoseconds),
		cmocka_unit_test(a_name_with_a_zero_is_whole),
		cmocka_unit_test(a_recording_of_go_is_read),
		cmocka_unit_test(a_recording_of_rust_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
