/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stitch.h"
#include "sampler/process/reader.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { TID = 77, DUMP_BYTES = 1024 };

static struct unwind_frame frames[UNWIND_MAX_FRAMES];

/* Frames i of a stack whose leaf is frame `leaf`: the same i always has the same address and stack pointer. */
static struct unwind_result stack_from(size_t leaf, size_t end)
{
	struct unwind_result result = { .frames = frames };

	for (size_t i = leaf; i < end; i++)
		frames[result.count++] = (struct unwind_frame){ 0x1000 + i, 0x10000 + 64 * i, (uint32_t)i, false };
	return result;
}

static int setup(void **state)
{
	struct stitch_memory *memory;
	struct error err;

	assert_true(stitch_memory_create(&memory, &err));
	*state = memory;
	return 0;
}

static int teardown(void **state)
{
	stitch_memory_destroy(*state);
	return 0;
}

static void test_joins_what_agrees(void **state)
{
	struct stitch_memory *memory = *state;
	struct unwind_result result = stack_from(20, 60);

	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(5, 30);
	assert_true(stitch_from_memory(memory, TID, &result));
	assert_int_equal(result.count, 55);
	for (size_t i = 0; i < result.count; i++)
		assert_int_equal(result.frames[i].image, 5 + i);
}

static void test_other_threads_do_not_match(void **state)
{
	struct stitch_memory *memory = *state;
	struct unwind_result result = stack_from(20, 60);

	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(5, 30);
	assert_false(stitch_from_memory(memory, TID + 64, &result));
	assert_false(stitch_from_memory(memory, TID + 1, &result));
	assert_int_equal(result.count, 25);
}

/* Recursion has the same address again and again: without the stack pointer its depth would be lost. */
static void test_address_alone_does_not_match(void **state)
{
	struct stitch_memory *memory = *state;
	struct unwind_result result = stack_from(20, 60);

	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(5, 30);
	result.frames[result.count - 1].stack_pointer += 8;
	assert_false(stitch_from_memory(memory, TID, &result));
	result = stack_from(5, 30);
	result.frames[result.count - 2].stack_pointer += 8;
	assert_false(stitch_from_memory(memory, TID, &result));
}

/* A function that stands at another of its calls, whose frame is too large for its return address to be copied. */
static void test_joins_at_the_caller_of_a_large_frame(void **state)
{
	struct stitch_memory *memory = *state;
	struct unwind_result result = stack_from(20, 60);

	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(5, 30);
	result.stop = PROFILE_STOP_DUMP_END;
	result.frames[result.count - 1].pc += 5;
	result.frames[result.count - 2].pc += 7;
	assert_false(stitch_from_memory(memory, TID, &result));
	result.caller_stack_pointer = 0x10000 + 64 * 31;
	assert_false(stitch_from_memory(memory, TID, &result));
	result.caller_stack_pointer = 0x10000 + 64 * 30;
	result.frames[result.count - 1].pc += 1 << 20;
	assert_false(stitch_from_memory(memory, TID, &result));
	result.frames[result.count - 1].pc -= 1 << 20;
	assert_true(stitch_from_memory(memory, TID, &result));
	assert_int_equal(result.count, 55);
	assert_int_equal(result.frames[25].image, 30);
}

/* A shallow stack does not push out a deep one, and is of use by itself. */
static void test_shallow_stacks(void **state)
{
	struct stitch_memory *memory = *state;
	struct unwind_result result = stack_from(20, 60);

	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(100, 106);
	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(98, 104);
	assert_true(stitch_from_memory(memory, TID, &result));
	assert_int_equal(result.count, 8);
	result = stack_from(5, 30);
	assert_true(stitch_from_memory(memory, TID, &result));
	assert_int_equal(result.count, 55);
}

static void test_depth_is_capped(void **state)
{
	struct stitch_memory *memory = *state;
	struct unwind_result result = stack_from(0, UNWIND_MAX_FRAMES);

	stitch_remember(memory, TID, &result, DUMP_BYTES);
	result = stack_from(0, 30);
	assert_true(stitch_from_memory(memory, TID, &result));
	assert_int_equal(result.count, UNWIND_MAX_FRAMES);
}

/* The kernel's chain over one anonymous mapping of a process that is not there. */
static void check_chain(const uint64_t *addresses, size_t count, struct unwind_result *result, bool expected)
{
	enum { PID = 0x7ffffff0 };
	struct record_words words = { (const uint8_t *)addresses, count };
	struct callchain callchain = { .words = &words, .count = count };
	struct record map = {
		.kind = RECORD_MMAP, .pid = PID, .mmap = { 0x1000, 0x1000, .executable = true, .path = "//anon" }
	};
	struct process_reader *reader;
	struct process_table table;
	struct process_space space = { .table = &table };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct process *process;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(process_reader_create(&reader, &err));
	process_table_init(&table, profile, process_host_live(reader), NULL);
	assert_true(process_table_update(&table, &map, &err));
	assert_true(process_table_get(&table, PID, &process, &err));
	space.process = process;
	assert_int_equal(stitch_from_chain(&space, &callchain, result), expected);
	process_table_deinit(&table);
	process_reader_destroy(reader);
}

static void test_chain(void **state)
{
	static const uint64_t fits[] = { 0x1000, 0x1001, 0x1002, 0x1100, 0x1200 };
	static const uint64_t other_caller[] = { 0x1000, 0x1005, 0x1002, 0x1100 };
	static const uint64_t leaves_the_code[] = { 0x1000, 0x1001, 0x1002, 0x9000 };
	struct unwind_result result = stack_from(0, 3);

	check_chain(fits, 5, &result, true);
	assert_int_equal(result.count, 5);
	assert_int_equal(result.frames[4].pc, 0x1200);
	assert_int_equal(result.frame_pointer_frames, 2);
	result = stack_from(0, 3);
	check_chain(other_caller, 4, &result, false);
	check_chain(leaves_the_code, 4, &result, false);
	check_chain(fits, 3, &result, false);
	check_chain(fits, 0, &result, false);
	assert_int_equal(result.count, 3);
}

/* What a program of the kernel has called at the entry of a function does not belong to the wait that ended there. */
static void test_a_hook_is_left_out(void **state)
{
	enum { FUNCTION = 0x5000 };
	static const uint64_t addresses[] = { PERF_CONTEXT_KERNEL, 0x9000, 0x9100, FUNCTION + 9, 0x6000, 0x7000,
		PERF_CONTEXT_USER, FUNCTION + 5 };
	static const uint64_t inside[] = { PERF_CONTEXT_KERNEL, 0x9000, FUNCTION + 17, 0x6000 };
	static const uint64_t outermost[] = { PERF_CONTEXT_KERNEL, 0x9000, FUNCTION + 5 };
	struct record_sample sample = { .callchain = { (const uint8_t *)addresses, 8 } };
	struct callchain callchain = callchain_of(&sample, PERF_CONTEXT_KERNEL);

	assert_false(callchain.has_callers_only);
	callchain_leave_hook(&callchain, FUNCTION);
	assert_int_equal(callchain.count, 2);
	assert_int_equal(callchain_address(&callchain, 0), 0x6000);
	assert_true(callchain.has_callers_only);
	/* There is no such frame any more. */
	callchain_leave_hook(&callchain, FUNCTION);
	assert_int_equal(callchain.count, 2);
	sample.callchain = (struct record_words){ (const uint8_t *)inside, 4 };
	callchain = callchain_of(&sample, PERF_CONTEXT_KERNEL);
	callchain_leave_hook(&callchain, FUNCTION);
	assert_int_equal(callchain.count, 3);
	assert_false(callchain.has_callers_only);
	sample.callchain = (struct record_words){ (const uint8_t *)outermost, 3 };
	callchain = callchain_of(&sample, PERF_CONTEXT_KERNEL);
	callchain_leave_hook(&callchain, FUNCTION);
	assert_int_equal(callchain.count, 2);
	callchain.count = 0;
	callchain_leave_hook(&callchain, FUNCTION);
	assert_int_equal(callchain.count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_joins_what_agrees),
		TEST(test_other_threads_do_not_match),
		TEST(test_address_alone_does_not_match),
		TEST(test_joins_at_the_caller_of_a_large_frame),
		TEST(test_shallow_stacks),
		TEST(test_depth_is_capped),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_a_hook_is_left_out),
	};

	return cmocka_run_group_tests_name("sampler.stitch", tests, NULL, NULL);
}
