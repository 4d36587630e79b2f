/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct diff *compare(const char *base_lines, const char *head_lines)
{
	struct profile *base = synthetic_runs(base_lines, 6), *head = synthetic_runs(head_lines, 6);
	struct diff *diff = synthetic_diff(base, head, NULL);

	profile_destroy(base);
	profile_destroy(head);
	return diff;
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
	static const char with[] = "main#1;wrap#6;call#2;work#3;mix#4 500\nmain#1;wrap#6;call#2;work#3 200\nmain#1;other#5 400\n";

	(void)state;
	for (int way = 0; way < 2; way++) {
		struct diff *diff = way ? compare(with, without) : compare(without, with);

		assert_int_equal(synthetic_function(diff, "wrap")->total.state, DIFF_STATE_MOVED);
		assert_int_equal(synthetic_function(diff, "call")->total.state, DIFF_STATE_SAME);
		assert_int_equal(synthetic_function(diff, "mix")->self.state, DIFF_STATE_SAME);
		assert_int_equal(coloured_nodes(diff), 0);
		assert_int_equal(diff->verdict, DIFF_UNCHANGED);
		diff_destroy(diff);
	}
}

static void wrappers_of_wrappers_take_nothing(void **state)
{
	struct diff *diff = compare(
		"main#1;work#3 700\nmain#1;other#5 400\n", "main#1;first#6;second#7;third#8;work#3 700\nmain#1;other#5 400\n");

	(void)state;
	assert_int_equal(synthetic_function(diff, "first")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(synthetic_function(diff, "second")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(synthetic_function(diff, "third")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(coloured_nodes(diff), 0);
	diff_destroy(diff);
}

/* What calls a dearer function takes more, and a new frame that works itself is new. */
static void true_differences_stay(void **state)
{
	struct diff *diff = compare("main#1;call#2;work#3 500\nmain#1;other#5 900\nmain#1;rest#9 900\n",
		"main#1;call#2;work#33 900\nmain#1;other#5 900\nmain#1;rest#9 900\nmain#1;added#6 300\nmain#1;added#6;helper#7 300\n");

	(void)state;
	assert_int_equal(synthetic_function(diff, "work")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "call")->total.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "added")->total.state, DIFF_STATE_NEW);
	assert_int_equal(synthetic_function(diff, "helper")->self.state, DIFF_STATE_NEW);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_that_comes_takes_nothing),
		cmocka_unit_test(wrappers_of_wrappers_take_nothing),
		cmocka_unit_test(true_differences_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
