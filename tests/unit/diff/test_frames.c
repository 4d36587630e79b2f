/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

static struct diff *compare(const char *base_lines, const char *head_lines)
{
	return synthetic_compare(synthetic_runs(base_lines, 6), synthetic_runs(head_lines, 6), NULL);
}

static size_t coloured_nodes(const struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->node_count; i++)
		count += diff->nodes[i].state == DIFF_STATE_MORE || diff->nodes[i].state == DIFF_STATE_LESS ||
			 diff->nodes[i].state == DIFF_STATE_NEW || diff->nodes[i].state == DIFF_STATE_GONE;
	return count;
}

/* A frame that was a tail call in base stands between two that were there before, in both directions. */
static void a_frame_that_comes_takes_nothing(void **state)
{
	static const char without[] = "main#1;call#2;work#3;mix#4 500\nmain#1;call#2;work#3 200\nmain#1;other#5 400\n";
	static const char with[] =
		"main#1;wrap#6;call#2;work#3;mix#4 500\nmain#1;wrap#6;call#2;work#3 200\nmain#1;other#5 400\n";

	for (int way = 0; way < 2; way++) {
		CLEANUP(diff_cleanup) struct diff *diff = way ? compare(with, without) : compare(without, with);

		const struct diff_function *wrap = synthetic_function(diff, "wrap");

		assert_int_equal(wrap->total.state, DIFF_STATE_MOVED);
		assert_true(wrap->moved_to < diff->function_count);
		assert_string_equal(diff_string(diff, diff->functions[wrap->moved_to].name), "main");
		assert_int_equal(synthetic_function(diff, "call")->total.state, DIFF_STATE_SAME);
		assert_int_equal(synthetic_function(diff, "mix")->self.state, DIFF_STATE_SAME);
		assert_int_equal(coloured_nodes(diff), 0);
		assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	}
}

static void wrappers_of_wrappers_take_nothing(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare("main#1;work#3 700\nmain#1;other#5 400\n",
		"main#1;first#6;second#7;third#8;work#3 700\nmain#1;other#5 400\n");

	assert_int_equal(synthetic_function(diff, "first")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(synthetic_function(diff, "second")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(synthetic_function(diff, "third")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(coloured_nodes(diff), 0);
}

/* What calls a dearer function takes more, and a new frame that works itself is new. */
static void true_differences_stay(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare("main#1;call#2;work#3 500\nmain#1;other#5 900\nmain#1;rest#9 900\n",
		"main#1;call#2;work#33 900\nmain#1;other#5 900\nmain#1;rest#9 900\nmain#1;added#6 300\nmain#1;added#6;helper#7 300\n");

	assert_int_equal(synthetic_function(diff, "work")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "call")->total.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "added")->total.state, DIFF_STATE_NEW);
	assert_int_equal(synthetic_function(diff, "helper")->self.state, DIFF_STATE_NEW);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
}

/* What all go through, as the entry to the kernel, hides nothing: another caller of it that makes it do other work is
 * new. */
static void a_common_callee_hides_nothing(void **state)
{
	static const struct {
		const char *function;
		enum diff_state total;
	} expected[] = { { "enter", DIFF_STATE_MORE }, { "old_way", DIFF_STATE_GONE }, { "new_way", DIFF_STATE_NEW },
		{ "sync", DIFF_STATE_NEW } };
	CLEANUP(diff_cleanup)
	struct diff *diff = compare("main#1;old_way#2;enter#3;send#4 500\nmain#1;other#5;enter#3;wait#6 900\n",
		"main#1;new_way#7;enter#3;sync#8 900\nmain#1;other#5;enter#3;wait#6 900\n");

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(synthetic_function(diff, expected[i].function)->total.state, expected[i].total);
}

/* Another function does the work now, as one that holds a lock: nothing came or went between it and what it calls. */
static void a_helper_of_two_callers_hides_neither(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare("main#1;locked#2;help#3 300\nmain#1;apart#4;help#3 900\nmain#1;other#5 900\n",
		"main#1;locked#22;help#3 600\nmain#1;apart#44;help#3 600\nmain#1;other#5 900\n");

	assert_int_equal(synthetic_function(diff, "locked")->total.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "apart")->total.state, DIFF_STATE_LESS);
	assert_int_equal(synthetic_function(diff, "help")->self.state, DIFF_STATE_SAME);
	assert_int_equal(coloured_nodes(diff), 4);
}

/* What one frame took, another one beside it cannot have taken too: the sum at their place is kept. */
static void a_loss_explains_one_gain(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare("main#1;help#3 600\nmain#1;other#5 900\nmain#1;rest#9 900\n",
		"main#1;first#6;help#3 600\nmain#1;second#7;help#3 580\nmain#1;other#5 900\nmain#1;rest#9 900\n");

	assert_int_equal(synthetic_function(diff, "first")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(synthetic_function(diff, "second")->total.state, DIFF_STATE_NEW);
}

/* An interpreter runs a new function of the script: all its time is the interpreter's, and it came from nowhere. */
static void a_new_function_of_a_script_is_new(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(
		"main#1;py::first;eval#2 3000\nmain#1;py::second;eval#2 2000\nmain#1;py::third;eval#2;alloc#3 4000\n",
		"main#1;py::first;eval#2 3000\nmain#1;py::second;eval#2 2000\nmain#1;py::third;eval#2;alloc#3 4000\n"
		"main#1;py::added;eval#2 2500\n");

	assert_int_equal(synthetic_function(diff, "py::added")->total.state, DIFF_STATE_NEW);
	assert_int_equal(synthetic_function(diff, "py::added")->moved_to, PROFILE_NONE);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
}

/* Few samples, so that half of the functions are met on one side only: the frame above them all is nothing new for it.
 */
static void a_frame_above_chance_takes_nothing(void **state)
{
	struct synthetic s[DIFF_SIDES] = { synthetic_create(), synthetic_create() };
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int run = 0; run < 3; run++) {
			synthetic_run(&s[side], true, 0);
			synthetic_add(&s[side], synthetic_stack(&s[side], "main#1;other#2"), 2, -1);
			for (int i = 0; i < 60; i++) {
				char stack[64];

				snprintf(stack, sizeof(stack), "main#1;%sf%d#%d", side ? "wrap#3;" : "", i, i + 10);
				synthetic_add(&s[side], synthetic_stack(&s[side], stack), i >> side & 1, -1);
			}
		}
		profiles[side] = synthetic_finish(&s[side]);
	}
	diff = synthetic_diff(profiles[DIFF_BASE], profiles[DIFF_HEAD], NULL);
	assert_int_equal(synthetic_function(diff, "wrap")->total.state, DIFF_STATE_MOVED);
	profile_destroy(profiles[DIFF_BASE]);
	profile_destroy(profiles[DIFF_HEAD]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_that_comes_takes_nothing),
		cmocka_unit_test(wrappers_of_wrappers_take_nothing),
		cmocka_unit_test(true_differences_stay),
		cmocka_unit_test(a_common_callee_hides_nothing),
		cmocka_unit_test(a_helper_of_two_callers_hides_neither),
		cmocka_unit_test(a_loss_explains_one_gain),
		cmocka_unit_test(a_new_function_of_a_script_is_new),
		cmocka_unit_test(a_frame_above_chance_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
