/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of blocks, nodes and counts in files of a simulation: what they say, and what they must not say. */
#include "simulated_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { INSTRUCTIONS = 2, FIRST_MISSES, LAST_MISSES, BRANCH_MISSES, SYSTEM_CALLS, SYSTEM };
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
	struct simulated_bytes bytes;
	struct recording result;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	simulated_bytes_init(&fixture->bytes);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	simulated_bytes_deinit(&fixture->bytes);
	recording_deinit(&fixture->result);
	free(fixture);
	return 0;
}

static bool read_file(struct fixture *fixture)
{
	recording_deinit(&fixture->result);
	simulated_write(&fixture->bytes, "7.0", fixture->bytes.file.size);
	return simulated_read(&fixture->bytes, &fixture->result, NULL, &fixture->err);
}

static int64_t sum_of(const struct fixture *fixture, size_t column, const char *run)
{
	const struct profile *profile = fixture->result.profile;
	int64_t sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_thread *thread = &profile->threads[profile->samples[i].thread];

		if (strcmp(profile_string(profile, profile->runs[thread->run].name), run) == 0)
			sum += profile->values[i * profile->value_type_count + column];
	}
	return sum;
}

/*
 * Block 0: three instructions of 4 bytes at 0x1000, exits behind the first and the second. Block 1: one instruction
 * before it. Node 0: a thread's; node 1: called by it; node 2: a signal handler in node 1.
 */
static void add_tree(struct simulated_bytes *bytes)
{
	const struct simulate_process process = { "KELVINSM", SIMULATE_VERSION, 7, 1, 0, { 0 }, { 0 }, { 0 }, "it" };
	const uint64_t blocks[] = { simulated_step(0x1000), 0, 3, 2, 4 * 2, 4 * 2, 4 * 2, 1, 1, simulated_step(-0x200),
		0, 1, 0, 4 * 2 };
	const uint64_t nodes[] = { 0, SIMULATE_NODE_THREAD, 0, 1, SIMULATE_NODE_CALL, simulated_step(0x1004), 1,
		SIMULATE_NODE_SIGNAL, simulated_step(-4) };

	simulated_add(bytes, SIMULATE_PROCESS, 1, &process, sizeof(process));
	simulated_add_numbers(bytes, SIMULATE_BLOCKS, 2, blocks, COUNT_OF(blocks));
	simulated_add_numbers(bytes, SIMULATE_NODES, 3, nodes, COUNT_OF(nodes));
}

static void add_dump(struct simulated_bytes *bytes, enum simulate_trigger trigger, const char *name)
{
	struct {
		struct simulate_dump dump;
		char name[8];
	} dump = { { trigger, (uint32_t)strlen(name) }, "" };

	strcpy(dump.name, name);
	simulated_add(bytes, SIMULATE_DUMP, 1, &dump, sizeof(dump));
}

static void add_end(struct simulated_bytes *bytes)
{
	const struct simulate_end end = { 0 };

	simulated_add(bytes, SIMULATE_END, 1, &end, sizeof(end));
}

/* Steps go forth and back, and numbers have any size. */
static void each_form_counts_its_instructions(void **state)
{
	static const uint64_t times[] = { 1, 127, 128, 16383, 16384, UINT32_MAX, (uint64_t)UINT32_MAX + 1, 1ull << 50 };
	struct fixture *fixture = *state;
	int64_t instructions = 0;

	add_tree(&fixture->bytes);
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		const uint64_t counts[] = {
			SIMULATE_COUNT_NODE | SIMULATE_COUNT_END,
			simulated_step(2),
			times[i],
			SIMULATE_COUNT_FIRST,
			times[i],
			SIMULATE_COUNT_NODE | SIMULATE_COUNT_ALL,
			simulated_step(-1),
			0,
			times[i],
			1,
			simulated_step(1) * SIMULATE_COUNT_STEP + SIMULATE_COUNT_END,
			times[i],
			simulated_step(-1) * SIMULATE_COUNT_STEP + (SIMULATE_COUNT_NODE | SIMULATE_COUNT_ALL),
			simulated_step(-1),
			times[i],
			1,
			1,
		};

		simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 5, counts, COUNT_OF(counts));
		instructions += (int64_t)times[i] * (3 + 1 + 2 + 1 + 1) + 3 + 2 + 3;
	}
	add_dump(&fixture->bytes, SIMULATE_TRIGGER_END, "");
	add_end(&fixture->bytes);
	if (!read_file(fixture))
		fail_msg("%s", fixture->err.message);
	assert_int_equal(sum_of(fixture, INSTRUCTIONS, ""), instructions);
}

static void costs_have_any_set_of_values(void **state)
{
	struct fixture *fixture = *state;
	int64_t expected[5] = { 0 };

	add_tree(&fixture->bytes);
	for (uint64_t set = 1; set < 32; set++) {
		uint64_t numbers[16] = { SIMULATE_COUNT_COSTS | SIMULATE_COUNT_ALL, 0, 0, 1 };
		size_t count = 4;

		/* At the second instruction and at the third. */
		for (int more = 1; more >= 0; more--) {
			numbers[count++] = SIMULATE_COST_STEP + set * SIMULATE_COST_SET + (uint64_t)more;
			for (size_t i = 0; i < 5; i++) {
				if (set >> i & 1)
					expected[i] += (int64_t)(numbers[count++] = 1ull << (set + i));
			}
		}
		simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 1, numbers, count);
	}
	add_dump(&fixture->bytes, SIMULATE_TRIGGER_END, "");
	add_end(&fixture->bytes);
	if (!read_file(fixture))
		fail_msg("%s", fixture->err.message);
	assert_int_equal(sum_of(fixture, INSTRUCTIONS, ""), 31 * 3);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(sum_of(fixture, FIRST_MISSES + i, ""), expected[i]);
}

/* A process writes counts before it knows of what they are, and what its threads are called. */
static void pieces_are_of_the_dump_behind_them(void **state)
{
	static const uint64_t counts[] = { SIMULATE_COUNT_END, 10 };
	const struct simulate_thread thread = { 0, 8, "worker" };
	struct fixture *fixture = *state;
	const struct profile *profile;

	add_tree(&fixture->bytes);
	simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 1, counts, 2);
	add_dump(&fixture->bytes, SIMULATE_TRIGGER_ZERO, "");
	simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 1, counts, 2);
	simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 1, counts, 2);
	simulated_add(&fixture->bytes, SIMULATE_THREAD, 1, &thread, sizeof(thread));
	add_dump(&fixture->bytes, SIMULATE_TRIGGER_REQUEST, "bench");
	for (int i = 0; i < 3; i++)
		simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 1, counts, 2);
	/* It is killed here: there is no dump, and no end. */
	if (!read_file(fixture))
		fail_msg("%s", fixture->err.message);
	assert_int_equal(sum_of(fixture, INSTRUCTIONS, "bench"), 2 * 30);
	assert_int_equal(sum_of(fixture, INSTRUCTIONS, ""), 3 * 30);
	profile = fixture->result.profile;
	assert_int_equal(profile->thread_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(profile->threads[i].tid, 8);
		assert_string_equal(profile_string(profile, profile->threads[i].name), "worker");
	}
}

struct wrong {
	uint32_t kind;
	const char *says;
	uint64_t numbers[8];
	size_t count;
};

static const struct wrong wrongs[] = {
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, 1, 1, 0, 8 }, 5 }, /* a mapping that is not there */
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, UINT64_MAX, 1, 0, 8 }, 5 },
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, 0, SIMULATE_BLOCK_MOST + 1, 0 }, 4 },
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, 0, 1, UINT64_MAX }, 4 },
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, 0, 1, 0, 256 * 2 }, 5 }, /* too long an instruction */
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, 0, 1, 1, 8, 2 }, 6 },    /* an exit behind the end */
	{ SIMULATE_BLOCKS, "block 2 is malformed", { 0, 0, 1, 2, 8, 1, UINT64_MAX }, 7 },
	{ SIMULATE_NODES, "node 3 is malformed", { 4, SIMULATE_NODE_CALL, 0 }, 3 }, /* a parent that is not there */
	{ SIMULATE_NODES, "node 3 is malformed", { UINT64_MAX, SIMULATE_NODE_CALL, 0 }, 3 },
	{ SIMULATE_NODES, "node 3 is malformed", { 1, SIMULATE_NODE_KINDS, 0 }, 3 },
	{ SIMULATE_NODES, "node 3 is malformed", { 1, 4 + SIMULATE_NODE_CALL, 0 }, 3 }, /* a mapping */
	{ SIMULATE_COUNTS, "block 2 in node 0, which are not there", { 4 * SIMULATE_COUNT_STEP, 1 }, 2 },
	{ SIMULATE_COUNTS, "in node 0, which are not there", { 1 * SIMULATE_COUNT_STEP, 1 }, 2 },
	{ SIMULATE_COUNTS, "block 0 in node 3, which are not there", { SIMULATE_COUNT_NODE, 6, 1 }, 3 },
	{ SIMULATE_COUNTS, "which are not there", { SIMULATE_COUNT_NODE, 1, 1 }, 3 }, /* node -1 */
	{ SIMULATE_COUNTS, "which are not there", { UINT64_MAX, UINT64_MAX, 1 }, 3 },
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed", { 3, 1 }, 2 }, /* no form */
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed", { SIMULATE_COUNT_END, 1ull << 63 }, 2 },
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed", { SIMULATE_COUNT_ALL, INT64_MAX, 1, 0 }, 4 },
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed", { SIMULATE_COUNT_COSTS, 1, 3 * SIMULATE_COST_STEP + 2, 1 },
		4 },
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed",
		{ SIMULATE_COUNT_COSTS, 1, 2 * SIMULATE_COST_STEP + 3, 1, SIMULATE_COST_STEP + 2, 1 }, 6 },
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed", { SIMULATE_COUNT_COSTS, 1, 0 }, 3 }, /* costs of nothing */
	{ SIMULATE_COUNTS, "block 0 in node 0 is malformed", { SIMULATE_COUNT_COSTS, 1, 2, 1ull << 63 }, 4 },
	{ SIMULATE_COUNTS, "does not fit it", { SIMULATE_COUNT_COSTS, 1, 3, 1ull << 34 }, 4 }, /* no cost follows */
	{ SIMULATE_COUNTS, "does not fit it", { SIMULATE_COUNT_ALL, 1ull << 43 }, 2 },         /* in 8 bytes */
};

static void expect_refusal(struct fixture *fixture, size_t place, const char *says)
{
	char offset[64];

	snprintf(offset, sizeof(offset), "process 7: at offset %zu: ", place);
	assert_false(read_file(fixture));
	assert_int_equal(fixture->err.code, ERROR_FORMAT);
	if (!strstr(fixture->err.message, offset) || !strstr(fixture->err.message, says))
		fail_msg("not '%s' and '%s': %s", offset, says, fixture->err.message);
}

static void wrong_numbers_are_refused_with_their_place(void **state)
{
	struct fixture *fixture = *state;
	size_t place;

	add_tree(&fixture->bytes);
	place = fixture->bytes.file.size;
	for (size_t i = 0; i < COUNT_OF(wrongs); i++) {
		fixture->bytes.file.size = place;
		simulated_add_numbers(&fixture->bytes, wrongs[i].kind, 1, wrongs[i].numbers, wrongs[i].count);
		expect_refusal(fixture, place, wrongs[i].says);
	}
}

static void numbers_beyond_64_bits_are_refused(void **state)
{
	static const uint8_t eleven_bytes[16] = { SIMULATE_COUNT_END, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x01 };
	static const uint8_t two_to_the_64th[16] = { SIMULATE_COUNT_END, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x02 };
	static const uint8_t no_end[8] = { SIMULATE_COUNT_END, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct fixture *fixture = *state;
	size_t place;

	add_tree(&fixture->bytes);
	place = fixture->bytes.file.size;
	simulated_add(&fixture->bytes, SIMULATE_COUNTS, 1, eleven_bytes, sizeof(eleven_bytes));
	expect_refusal(fixture, place, "a number beyond 64 bits");
	fixture->bytes.file.size = place;
	simulated_add(&fixture->bytes, SIMULATE_COUNTS, 1, two_to_the_64th, sizeof(two_to_the_64th));
	expect_refusal(fixture, place, "a number beyond 64 bits");
	fixture->bytes.file.size = place;
	simulated_add(&fixture->bytes, SIMULATE_COUNTS, 1, no_end, sizeof(no_end));
	expect_refusal(fixture, place, "entry 0 of a record of kind 6 does not fit it");
}

/* A step is from the entry before in the same record, never from another record's. */
static void steps_begin_anew_in_each_record(void **state)
{
	static const uint64_t counts[] = { SIMULATE_COUNT_STEP * 2 + (SIMULATE_COUNT_NODE | SIMULATE_COUNT_END), 4, 1 };
	struct fixture *fixture = *state;

	add_tree(&fixture->bytes);
	for (int i = 0; i < 100; i++)
		simulated_add_numbers(&fixture->bytes, SIMULATE_COUNTS, 1, counts, 3);
	add_dump(&fixture->bytes, SIMULATE_TRIGGER_END, "");
	if (!read_file(fixture))
		fail_msg("%s", fixture->err.message);
	assert_int_equal(sum_of(fixture, INSTRUCTIONS, ""), 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_form_counts_its_instructions),
		TEST(costs_have_any_set_of_values),
		TEST(pieces_are_of_the_dump_behind_them),
		TEST(wrong_numbers_are_refused_with_their_place),
		TEST(numbers_beyond_64_bits_are_refused),
		TEST(steps_begin_anew_in_each_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
