/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/pprof_format.h"
#include "profile_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A profile that grows in steps, each written as an increment. What is read from them must equal the profile in all its
 * columns, so that a column which whole profiles hold cannot be forgotten here.
 */

struct recording {
	struct profile *profile;
	struct profile_written written;
	struct profile_recording facts;
	struct buffer file;
	struct error err;
};

static void must(struct recording *recording, bool ok)
{
	if (!ok)
		fail_msg("%s", recording->err.message);
}

static uint32_t text(struct recording *recording, const char *string)
{
	uint32_t id;

	must(recording, profile_intern(recording->profile, string, &id, &recording->err));
	return id;
}

static int setup(void **state)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct profile_run run = { .start_unix_ns = 1700000000000000000, .exit_status = -1 };
	uint32_t id;

	assert_non_null(recording);
	must(recording, profile_create(&recording->profile, &recording->err));
	must(recording, profile_add_value_type(recording->profile, "faults", "count", &recording->err));
	must(recording, profile_add_value_type(recording->profile, "cpu", "nanoseconds", &recording->err));
	must(recording, profile_add_run(recording->profile, &run, &id, &recording->err));
	recording->profile->counts_of[1] = PROFILE_NONE;
	recording->profile->period_type = recording->profile->value_types[2];
	recording->profile->period = 1003009;
	recording->facts.kernel_text = 0xffffffff81000000;
	buffer_init(&recording->file, 1 << 24);
	*state = recording;
	return 0;
}

static int teardown(void **state)
{
	struct recording *recording = *state;

	profile_destroy(recording->profile);
	profile_written_deinit(&recording->written);
	buffer_deinit(&recording->file);
	free(recording);
	return 0;
}

/* The facts, each with a value of the step; those of the last step hold. */
static void set_facts(struct recording *recording, uint32_t step)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);
	char string[64];

	for (size_t i = 0; i < count; i++) {
		uint32_t value = facts[i].field * 1000 + step;

		snprintf(string, sizeof(string), "%s of %u", facts[i].name, step);
		if (facts[i].type == PROFILE_FACT_STRING)
			value = text(recording, string);
		else if (facts[i].type == PROFILE_FACT_FLAG)
			value = 1;
		profile_fact_set(&recording->profile->facts, &facts[i], value);
	}
}

static uint32_t add_mapping(struct recording *recording, uint32_t step)
{
	char path[64];
	uint32_t id;

	snprintf(path, sizeof(path), "/srv/program-%u", step);
	must(recording, profile_add_mapping(recording->profile,
				&(struct profile_mapping){ .path = text(recording, path),
					.build_id = text(recording, step % 2 ? "00ff" : ""),
					.start = 0x1000 * step,
					.end = 0x1000 * step + 0x800,
					.file_offset = step,
					.kind = (enum profile_mapping_kind)(step % (PROFILE_MAPPING_ANON + 1)),
					.deleted = step % 2 },
				&id, &recording->err));
	return id;
}

static uint32_t add_location(struct recording *recording, uint32_t mapping, uint32_t step, bool is_named)
{
	struct profile_function function = { .name = text(recording, "work"),
		.file = text(recording, "work.c"),
		.start_line = step + 1,
		.module = recording->profile->mappings[mapping].module,
		.fingerprint = step * 0x9e3779b97f4a7c15u,
		.origin = PROFILE_ORIGIN_USER,
		.origin_rule = (uint16_t)(step + 1),
		.name_source = PROFILE_NAME_DWARF };
	struct profile_line line = { .line = step + 2 };
	uint32_t id;

	must(recording, profile_add_location(recording->profile, mapping, 0x1000 * step + 0x10, &id, &recording->err));
	if (!is_named)
		return id;
	must(recording, profile_add_function(recording->profile, &function, &line.function, &recording->err));
	must(recording, profile_set_lines(recording->profile, id, &line, 1, &recording->err));
	return id;
}

static uint32_t add_thread(struct recording *recording, uint32_t step)
{
	char name[32];
	uint32_t id;

	snprintf(name, sizeof(name), "worker %u", step);
	must(recording, profile_add_thread(recording->profile,
				&(struct profile_thread){
					0, 100, 100 + (int32_t)step, text(recording, "server"), text(recording, name) },
				&id, &recording->err));
	return id;
}

static void add_sample(struct recording *recording, uint32_t stack, uint32_t thread, int64_t time_us)
{
	int64_t values[] = { 1, stack, 1003009 };

	must(recording, profile_add_sample(recording->profile, stack, thread, values, time_us * 1000, &recording->err));
	/* Stacks of even numbers are waits, each of its own length. */
	if (stack % 2 == 0)
		must(recording, profile_weigh_event(recording->profile, time_us + 1, &recording->err));
	recording->profile->quality.samples++;
	recording->profile->quality.stops[PROFILE_STOP_ROOT]++;
	recording->profile->quality.frames += 7;
}

/* A lock of each step, and who ended a wait for it: earlier stacks occur again, with other weights. */
static void add_release(struct recording *recording, uint32_t step, uint32_t stack)
{
	const struct profile_lock lock = { text(recording, step ? "mutex" : ""), text(recording, "server"),
		(int32_t)step - 1 };
	struct profile_release release = { .stack = stack, .releaser = step, .weight_ns = 1000000000 + step };

	must(recording, profile_add_lock(recording->profile, &lock, &release.lock, &recording->err));
	must(recording, profile_add_release(recording->profile, &release, &recording->err));
	release = (struct profile_release){ 1, PROFILE_NONE, stack, step + 1 };
	must(recording, profile_add_release(recording->profile, &release, &recording->err));
}

/* A worker of each step; those of the steps before go on. Latencies are known from the first step on. */
static void add_requests(struct recording *recording, uint32_t step)
{
	struct profile_requests *requests = &recording->profile->requests;
	const struct profile_exchanges exchanges = { .pid = 100 - (int32_t)step,
		.process_name = text(recording, "server"),
		.count = 3,
		.connections = step + 1 };
	uint32_t id;

	requests->source = PROFILE_WORK_SOCKETS;
	requests->one_in = step + 1;
	must(recording, profile_add_exchanges(recording->profile, &exchanges, &id, &recording->err));
	for (uint32_t i = 0; i <= id; i++) {
		must(recording,
			profile_add_exchange_reading(recording->profile,
				&(struct profile_exchange_reading){ i, 1000 * step + 7, 10 + i }, &recording->err));
		must(recording, profile_add_latency(recording->profile, &(struct profile_latency){ i, 100, 1 + step },
					&recording->err));
	}
}

/* The version becomes known with the second step, as that of a service that starts, and another with the third. */
static void set_labels(struct recording *recording, uint32_t step)
{
	must(recording, profile_set_label(recording->profile, "service", "checkout", &recording->err));
	if (step > 0)
		must(recording,
			profile_set_label(recording->profile, "version", step > 1 ? "2" : "1", &recording->err));
}

static void write_increment(struct recording *recording, int64_t duration_ns)
{
	recording->facts.duration_ns = recording->profile->runs[0].duration_ns = duration_ns;
	must(recording, profile_write_increment(recording->profile, &recording->facts, &recording->written,
				&recording->file, &recording->err));
}

/* Each step brings new entries of all tables, and adds to the samples of the steps before. */
static void record(struct recording *recording, uint32_t steps, bool is_named)
{
	for (uint32_t step = 0; step < steps; step++) {
		uint32_t mapping = add_mapping(recording, step), thread = add_thread(recording, step), stack = 0;

		set_facts(recording, step);
		set_labels(recording, step);
		must(recording, profile_add_stack(recording->profile, 0,
					add_location(recording, mapping, step, is_named), &stack, &recording->err));
		for (uint32_t i = 0; i < recording->profile->sample_count; i++)
			add_sample(recording, recording->profile->samples[i].stack,
				recording->profile->samples[i].thread, 10 * step + i);
		add_sample(recording, stack, thread, 10 * step + 9);
		add_release(recording, step, stack);
		add_requests(recording, step);
		write_increment(recording, 1000000 * (step + 1));
	}
}

static void increments_are_the_profile(void **state)
{
	for (uint32_t steps = 1; steps <= 5; steps++) {
		CLEANUP(profile_cleanup) struct profile *read = NULL;
		struct profile_recording facts;
		struct recording *recording;
		size_t whole;

		teardown(state);
		setup(state);
		recording = *state;
		record(recording, steps, steps % 2);
		must(recording, profile_finish(recording->profile, &recording->err));
		must(recording, profile_read_increments(recording->file.data, recording->file.size, &facts, &whole,
					&read, &recording->err));
		assert_profiles_equal(recording->profile, read);
		assert_int_equal(whole, recording->file.size);
		assert_int_equal(facts.duration_ns, 1000000 * steps);
		assert_true(facts.kernel_text == recording->facts.kernel_text);
	}
}

/* Whoever reads pprof: unknown fields are skipped, and messages that follow each other are one. */
static void the_reader_of_whole_profiles_reads_them(void **state)
{
	struct recording *recording = *state;
	CLEANUP(profile_cleanup) struct profile *read = NULL;

	record(recording, 4, true);
	must(recording, profile_finish(recording->profile, &recording->err));
	must(recording,
		profile_read_pprof(recording->file.data, recording->file.size, ARRAY_MAX_IDS, &read, &recording->err));
	assert_profiles_equal(recording->profile, read);
}

/* 1,000 samples of one stack take no more than their events and what is written once: it is the recorder who pays. */
static void an_increment_holds_what_is_new(void **state)
{
	struct recording *recording = *state;
	size_t before;

	record(recording, 5, false);
	before = recording->file.size;
	for (int i = 0; i < 1000; i++)
		add_sample(recording, 1, 0, 100 + i);
	write_increment(recording, 10000000);
	assert_true(recording->file.size - before < 1000 * 3 + 512);
}

static void a_cut_file_keeps_what_is_whole(void **state)
{
	struct recording *recording = *state;
	size_t ends[4], whole;

	for (size_t i = 1; i <= 3; i++) {
		teardown(state);
		setup(state);
		recording = *state;
		record(recording, (uint32_t)i, false);
		ends[i] = recording->file.size;
	}
	for (size_t size = 0; size <= ends[3]; size++) {
		CLEANUP(profile_cleanup) struct profile *read = NULL;
		struct profile_recording facts;
		size_t steps = size >= ends[3] ? 3 : size >= ends[2] ? 2 : size >= ends[1] ? 1 : 0;

		assert_int_equal(
			profile_read_increments(recording->file.data, size, &facts, &whole, &read, &recording->err),
			steps > 0);
		if (steps == 0)
			continue;
		assert_int_equal(whole, ends[steps]);
		assert_int_equal(read->mapping_count, steps);
	}
}

/* A kernel that lies elsewhere after a boot; equal locations are found at their new addresses. */
static void locations_move_with_their_mapping(void **state)
{
	struct recording *recording = *state;
	uint32_t kernel, id;

	record(recording, 3, false);
	kernel = recording->profile->locations[PROFILE_MAPPING_KERNEL].mapping;
	assert_int_equal(recording->profile->mappings[kernel].kind, PROFILE_MAPPING_KERNEL);
	must(recording,
		profile_move_locations(recording->profile, PROFILE_MAPPING_KERNEL, (uint64_t)-0x10, &recording->err));
	assert_int_equal(recording->profile->locations[0].address, 0x10);
	assert_int_equal(recording->profile->locations[1].address, 0x1000);
	must(recording, profile_add_location(recording->profile, kernel, 0x1000, &id, &recording->err));
	assert_int_equal(id, 1);
	must(recording, profile_add_location(recording->profile, kernel, 0x1010, &id, &recording->err));
	assert_int_equal(id, 3);
}

static bool write_anew(const struct recording *recording, struct error *err)
{
	struct profile_written written = { 0 };
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	bool ok;

	buffer_init(&file, 1 << 20);
	ok = profile_write_increment(recording->profile, &recording->facts, &written, &file, err);
	profile_written_deinit(&written);
	return ok;
}

static bool read_and_move(const struct recording *recording, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *read = NULL;
	struct profile_recording facts;
	size_t whole;

	return profile_read_increments(recording->file.data, recording->file.size, &facts, &whole, &read, err) &&
	       profile_move_locations(read, PROFILE_MAPPING_KERNEL, 16, err);
}

static void every_failed_allocation_is_an_error(void **state)
{
	static bool (*const acts[])(
		const struct recording *recording, struct error *err) = { write_anew, read_and_move };
	struct recording *recording = *state;

	record(recording, 3, false);
	for (size_t i = 0; i < 2; i++) {
		bool succeeded = false;

		for (size_t n = 0; !succeeded; n++) {
			struct error err = { 0 };

			failing_malloc_after(n);
			succeeded = acts[i](recording, &err);
			failing_malloc_after(SIZE_MAX);
			assert_true(succeeded || err.code == ERROR_MEMORY);
		}
	}
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(increments_are_the_profile),
		TEST(the_reader_of_whole_profiles_reads_them),
		TEST(an_increment_holds_what_is_new),
		TEST(a_cut_file_keeps_what_is_whole),
		TEST(locations_move_with_their_mapping),
		TEST(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
