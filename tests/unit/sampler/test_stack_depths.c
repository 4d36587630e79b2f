/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stack_depths.h"

#include "tests/unit/support/unit_test.h"

#include <string.h>

static const uint64_t base_address = 0x7f0000000000;

enum { TID = 7, ROOM = 16384, SAMPLES = 100 };

static void note_base(struct stack_depths *depths, uint64_t base)
{
	struct unwind_frame frames[] = { { .stack_pointer = base - 100 }, { .stack_pointer = base } };
	const struct unwind_result result = { .frames = frames, .count = 2 };

	stack_depths_note_whole(depths, TID, &result, ROOM);
}

static void expect_notice(const struct stack_depths *depths, const char *expected)
{
	struct buffer notices;

	buffer_init(&notices, 4096);
	stack_depths_describe(depths, SAMPLES, &notices);
	buffer_append_byte(&notices, '\0');
	assert_string_equal(notices.data, expected);
	buffer_deinit(&notices);
}

static void test_sizes_are_told_by_where_the_stack_begins(void **state)
{
	struct stack_depths depths = { 0 };

	(void)state;
	note_base(&depths, base_address);
	expect_notice(&depths, "");
	stack_depths_count(&depths, TID, base_address - 20000, ROOM);
	stack_depths_count(&depths, TID, base_address - 60000, ROOM);
	stack_depths_count(&depths, TID, base_address - 100000, ROOM);
	stack_depths_count(&depths, TID, base_address - 100000, ROOM);
	/* Of a thread that is not known, and one that is on another stack. */
	stack_depths_count(&depths, TID + 1, base_address - 20000, ROOM);
	stack_depths_count(&depths, TID, base_address + 20000, ROOM);
	expect_notice(&depths,
		"6 % of the stacks are larger than their copies of 16384 bytes: of those whose size is known --call-graph dwarf,32768 would hold 25 %, --call-graph dwarf,65528 would hold 50 %; -g fp reads all frames of programs that keep frame pointers\n");
}

static void test_where_no_copy_is_larger(void **state)
{
	struct stack_depths depths = { 0 };

	(void)state;
	note_base(&depths, base_address);
	stack_depths_count(&depths, TID, base_address - 100000, 65528);
	expect_notice(&depths,
		"1 % of the stacks are larger than their copies of 65528 bytes: -g fp reads all frames of programs that keep frame pointers\n");
}

/* What smaller copies had cut says nothing of those that are made now. */
static void test_copies_that_have_grown(void **state)
{
	struct stack_depths depths = { 0 };

	(void)state;
	for (size_t i = 0; i < SAMPLES / 2; i++)
		stack_depths_count(&depths, TID, base_address - 20000, ROOM / 2);
	note_base(&depths, base_address);
	expect_notice(&depths, "");
}

/* A handler may have a stack of its own, lower than the thread's. */
static void test_the_higher_of_two_stacks_is_the_threads(void **state)
{
	struct stack_depths depths = { 0 };

	(void)state;
	note_base(&depths, base_address);
	note_base(&depths, base_address - 1000000);
	stack_depths_count(&depths, TID, base_address - 20000, ROOM);
	assert_int_equal(depths.known, 1);
	assert_int_equal(depths.within[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_are_told_by_where_the_stack_begins),
		cmocka_unit_test(test_where_no_copy_is_larger),
		cmocka_unit_test(test_copies_that_have_grown),
		cmocka_unit_test(test_the_higher_of_two_stacks_is_the_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
