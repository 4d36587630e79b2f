/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "simulated_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { CYCLES = 1, INSTRUCTIONS, FIRST_MISSES, LAST_MISSES, BRANCH_MISSES, SYSTEM_CALLS, SYSTEM, VALUES };

struct fixture {
	struct simulated_bytes bytes;
	struct recording result;
	struct buffer notices;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	simulated_bytes_init(&fixture->bytes);
	buffer_init(&fixture->notices, 1 << 16);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	simulated_bytes_deinit(&fixture->bytes);
	recording_deinit(&fixture->result);
	buffer_deinit(&fixture->notices);
	free(fixture);
	return 0;
}

static bool read_files(struct fixture *fixture)
{
	recording_deinit(&fixture->result);
	fixture->notices.size = 0;
	return simulated_read(&fixture->bytes, &fixture->result, &fixture->notices, &fixture->err);
}

static void read_example(struct fixture *fixture)
{
	simulated_write(&fixture->bytes, "100.0", fixture->bytes.file.size);
	if (!read_files(fixture))
		fail_msg("%s", fixture->err.message);
}

/* The values of a stack, written from the root as "f_1004:1025;f_1008:1026", in a run. NULL: it is not there. */
static const int64_t *values_of(const struct fixture *fixture, const char *wanted, const char *run)
{
	const struct profile *profile = fixture->result.profile;

	for (size_t i = 0; i < profile->sample_count; i++) {
		char text[256] = "";

		for (uint32_t stack = profile->samples[i].stack; stack; stack = profile->stacks[stack].parent) {
			const struct profile_location *location = &profile->locations[profile->stacks[stack].location];
			const struct profile_line *line = &profile->lines[location->first_line];
			char frame[256];

			snprintf(frame, sizeof(frame), "%s:%u%s%s",
				profile_string(profile, profile->functions[line->function].name), line->line,
				text[0] ? ";" : "", text);
			strcpy(text, frame);
		}
		if (strcmp(text, wanted) == 0 &&
			strcmp(profile_string(
				       profile, profile->runs[profile->threads[profile->samples[i].thread].run].name),
				run) == 0)
			return &profile->values[i * profile->value_type_count];
	}
	return NULL;
}

static void instructions_are_counted_up_to_the_exit(void **state)
{
	struct fixture *fixture = *state;
	const int64_t *values;

	simulated_add_example(&fixture->bytes, 100);
	read_example(fixture);
	values = values_of(fixture, "f_1000:1024", "");
	assert_non_null(values);
	assert_int_equal(values[INSTRUCTIONS], 15);
	assert_int_equal(values[CYCLES], 15 * 2 / 4);
	values = values_of(fixture, "f_1008:1027", "");
	assert_non_null(values);
	assert_int_equal(values[INSTRUCTIONS], 10);
	assert_int_equal(values[CYCLES], 10 * 8 / 4);
}

static void costs_belong_to_their_instruction_and_context(void **state)
{
	struct fixture *fixture = *state;
	const int64_t *values;

	simulated_add_example(&fixture->bytes, 100);
	read_example(fixture);
	values = values_of(fixture, "f_1000:1025;f_1008:1026", "");
	assert_non_null(values);
	assert_int_equal(values[0], 0);
	assert_int_equal(values[INSTRUCTIONS], 100);
	assert_int_equal(values[FIRST_MISSES], 7);
	assert_int_equal(values[LAST_MISSES], 2);
	assert_int_equal(values[BRANCH_MISSES], 3);
	assert_int_equal(values[SYSTEM_CALLS], 4);
	assert_int_equal(values[SYSTEM], 5000);
	assert_int_equal(values[CYCLES], cost_model_cycles(400, 7, 2, 3));
}

static void named_parts_are_runs(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	simulated_add_example(&fixture->bytes, 100);
	simulated_write(&fixture->bytes, "100.1", fixture->bytes.file.size);
	read_example(fixture);
	profile = fixture->result.profile;
	assert_int_equal(profile->run_count, 2);
	assert_int_equal(profile->runs[0].exit_status, 9);
	assert_string_equal(profile_string(profile, profile->runs[1].name), "bench");
	/* Both files count. */
	assert_int_equal(values_of(fixture, "f_1000:1024", "bench")[INSTRUCTIONS], 30);
	assert_int_equal(profile->thread_count, 2);
	assert_int_equal(profile->threads[0].tid, 101);
	assert_string_equal(profile_string(profile, profile->threads[0].process_name), "program");
	assert_string_equal(profile_string(profile, profile->threads[0].name), "worker");
}

static void the_profile_is_exact_and_valid(void **state)
{
	struct fixture *fixture = *state;
	struct profile_metric metric;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	CLEANUP(profile_cleanup) struct profile *again = NULL;

	simulated_add_example(&fixture->bytes, 100);
	read_example(fixture);
	metric = profile_metric(fixture->result.profile, fixture->result.profile->default_value_type);
	assert_true(metric.is_exact);
	assert_string_equal(metric.words, "cycles");
	assert_int_equal(metric.counts, PROFILE_NONE);
	assert_string_equal(profile_label(fixture->result.profile, "version"), "7");
	assert_true(profile_validate(fixture->result.profile, &fixture->err));
	buffer_init(&file, 1 << 20);
	assert_true(profile_write_pprof(fixture->result.profile, &file, &fixture->err));
	assert_true(foreign_read(file.data, file.size, "it", &again, &fixture->err));
	assert_int_equal(again->sample_count, fixture->result.profile->sample_count);
	assert_int_equal(again->default_value_type, CYCLES);
	assert_true(profile_metric(again, CYCLES).is_exact);
}

/* A killed process leaves a part of its file: what stands in it whole holds. */
static void a_cut_file_is_read_as_far_as_it_goes(void **state)
{
	struct fixture *fixture = *state;
	int64_t before = 0;

	simulated_add_example(&fixture->bytes, 100);
	for (size_t size = 0; size < fixture->bytes.file.size; size++) {
		int64_t sum = 0;

		simulated_write(&fixture->bytes, "100.0", size);
		if (!read_files(fixture)) {
			assert_int_equal(fixture->err.code, ERROR_EMPTY);
			continue;
		}
		assert_non_null(memmem(fixture->notices.data, fixture->notices.size, "killed", 6));
		assert_true(profile_validate(fixture->result.profile, &fixture->err));
		for (size_t i = 0; i < fixture->result.profile->sample_count; i++)
			sum += fixture->result.profile->values[i * VALUES + INSTRUCTIONS];
		assert_true(sum >= before);
		before = sum;
	}
	assert_int_equal(before, 2 * (15 + 15 + 10 + 10 + 4 * 100));
}

/* Any byte may be wrong: the file is refused, or what it says now is read. */
static void wrong_bytes_do_no_harm(void **state)
{
	struct fixture *fixture = *state;

	simulated_add_example(&fixture->bytes, 100);
	for (size_t i = 0; i < fixture->bytes.file.size; i++) {
		const uint8_t bit = (uint8_t)(1 << i % 8);

		fixture->bytes.file.data[i] ^= bit;
		simulated_write(&fixture->bytes, "100.0", fixture->bytes.file.size);
		if (!read_files(fixture))
			assert_true(fixture->err.message[0]);
		fixture->bytes.file.data[i] ^= bit;
	}
}

static void a_wrong_file_is_refused_with_its_place(void **state)
{
	static const uint8_t garbage[64] = "this is no file of a simulation";
	struct fixture *fixture = *state;

	buffer_append(&fixture->bytes.file, garbage, sizeof(garbage));
	simulated_write(&fixture->bytes, "7.0", sizeof(garbage));
	assert_false(read_files(fixture));
	assert_int_equal(fixture->err.code, ERROR_FORMAT);
	assert_non_null(strstr(fixture->err.message, "process 7: at offset 0"));
}

static void other_files_are_passed_over(void **state)
{
	struct fixture *fixture = *state;

	buffer_append_string(&fixture->bytes.file, "text");
	simulated_write(&fixture->bytes, "7.log", 4);
	simulated_write(&fixture->bytes, "7.0x", 4);
	assert_false(read_files(fixture));
	assert_int_equal(fixture->err.code, ERROR_EMPTY);
}

/* Deep recursion: counts stay, frames between do not. */
static void stacks_have_an_end(void **state)
{
	enum { DEPTH = 3000 };
	struct fixture *fixture = *state;
	const struct simulate_process process = { "KELVINSM", SIMULATE_VERSION, 5, 1, 0, { 0 }, { 0 }, { 0 }, "deep" };
	const uint64_t block[] = { simulated_step(0x1000), 0, 1, 0, 4 * 2 };
	uint64_t counts[DEPTH][3], nodes[DEPTH][3];
	int64_t sum = 0;

	for (uint32_t i = 0; i < DEPTH; i++) {
		nodes[i][0] = i > 0;
		nodes[i][1] = i > 0 ? SIMULATE_NODE_CALL : SIMULATE_NODE_THREAD;
		nodes[i][2] = simulated_step(i == 1 ? 0x1002 : 0);
		counts[i][0] = SIMULATE_COUNT_NODE | SIMULATE_COUNT_END;
		counts[i][1] = simulated_step(i > 0);
		counts[i][2] = 1;
	}
	simulated_add(&fixture->bytes, SIMULATE_PROCESS, 1, &process, sizeof(process));
	simulated_add_numbers(&fixture->bytes, SIMULATE_BLOCKS, 1, block, 5);
	simulated_add_numbers(&fixture->bytes, SIMULATE_NODES, DEPTH, nodes[0], 3 * DEPTH);
	simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, DEPTH, counts[0], 3 * DEPTH);
	read_example(fixture);
	for (size_t i = 0; i < fixture->result.profile->sample_count; i++)
		sum += fixture->result.profile->values[i * VALUES + INSTRUCTIONS];
	assert_int_equal(sum, DEPTH);
	assert_non_null(memmem(fixture->notices.data, fixture->notices.size, "1975 contexts are deeper", 24));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(instructions_are_counted_up_to_the_exit),
		TEST(costs_belong_to_their_instruction_and_context),
		TEST(named_parts_are_runs),
		TEST(the_profile_is_exact_and_valid),
		TEST(a_cut_file_is_read_as_far_as_it_goes),
		TEST(wrong_bytes_do_no_harm),
		TEST(a_wrong_file_is_refused_with_its_place),
		TEST(other_files_are_passed_over),
		TEST(stacks_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
