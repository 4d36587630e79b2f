/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes in which a function that is proven to have changed has changed. */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct diff *compare(const char *base_lines, const char *head_lines)
{
	return synthetic_compare(synthetic_runs(base_lines, 6), synthetic_runs(head_lines, 6), NULL);
}

/* The node of a function below one of another. */
static const struct diff_node *node_below(const struct diff *diff, const char *name, const char *above)
{
	for (uint32_t n = 1; n < diff->node_count; n++) {
		uint32_t parent = diff->nodes[n].parent;
		const struct diff_function *f = &diff->functions[diff->nodes[n].function];

		if (parent != 0 && strcmp(diff_string(diff, f->name), name) == 0 &&
			strcmp(diff_string(diff, diff->functions[diff->nodes[parent].function].name), above) == 0)
			return &diff->nodes[n];
	}
	fail_msg("no %s below %s", name, above);
	return NULL;
}

static bool is_place(const struct diff *diff, const char *name, const char *above)
{
	return node_below(diff, name, above)->flags & DIFF_NODE_PLACE;
}

/* A function takes more itself, and what it calls takes as much less: its total says nothing. */
static void a_change_of_self_time_alone_has_a_place(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare("main#1;work#2 300\nmain#1;work#2;help#3 500\nmain#1;other#4 900\n",
		"main#1;work#22 500\nmain#1;work#22;help#33 300\nmain#1;other#4 900\n");

	assert_int_equal(synthetic_function(diff, "work")->self.state, DIFF_STATE_MORE);
	assert_int_equal(node_below(diff, "work", "main")->state, DIFF_STATE_SAME);
	assert_true(is_place(diff, "work", "main"));
	assert_true(is_place(diff, "help", "work"));
	assert_false(is_place(diff, "other", "main"));
}

/* Of two places one has the change; the other one is as before, or has changed the other way. */
static void a_place_has_the_direction_of_its_function(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff =
		compare("main#1;a#2;work#3 300\nmain#1;b#4;work#3 300\nmain#1;c#5;work#3 300\nmain#1;other#6 900\n",
			"main#1;a#2;work#33 800\nmain#1;b#4;work#33 300\nmain#1;c#5;work#33 250\nmain#1;other#6 900\n");

	assert_int_equal(synthetic_function(diff, "work")->self.state, DIFF_STATE_MORE);
	assert_true(is_place(diff, "work", "a"));
	assert_false(is_place(diff, "work", "b"));
	assert_false(is_place(diff, "work", "c"));
}

/* What a node's own state says of its total, a flag for the function's total need not say again. */
static void a_proven_total_has_a_place_where_no_node_says_so(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(
		"main#1;work#2;help#3 300\nmain#1;other#4 900\n", "main#1;work#2;help#33 800\nmain#1;other#4 900\n");

	assert_int_equal(synthetic_function(diff, "work")->total.state, DIFF_STATE_MORE);
	assert_int_equal(node_below(diff, "work", "main")->state, DIFF_STATE_MORE);
	assert_false(is_place(diff, "work", "main"));
	assert_true(is_place(diff, "help", "work"));
}

/* Each proven change is seen in the tree: in the state of a node, or in its flag. */
static void no_proven_change_is_without_a_place(void **state)
{
	char lines[DIFF_SIDES][4096] = { "", "" };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < 40; i++) {
			size_t used = strlen(lines[side]);

			snprintf(lines[side] + used, sizeof(lines[side]) - used,
				"main#1;caller%d#%d;list#2;next#3 %d\n", i, i + 10, side ? 6 : 4);
		}
		strcat(lines[side], "main#1;other#4 900\n");
	}
	diff = compare(lines[DIFF_BASE], lines[DIFF_HEAD]);
	assert_int_equal(synthetic_function(diff, "list")->total.state, DIFF_STATE_MORE);
	for (uint32_t f = 0; f < diff->function_count; f++) {
		const struct diff_function *function = &diff->functions[f];
		bool seen = false;

		if (!diff_state_is_difference(function->self.state) && !diff_state_is_difference(function->total.state))
			continue;
		for (uint32_t n = 1; n < diff->node_count; n++)
			seen |= diff->nodes[n].function == f &&
				(diff->nodes[n].flags & DIFF_NODE_PLACE ||
					diff_state_is_difference((enum diff_state)diff->nodes[n].state));
		assert_true(seen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_of_self_time_alone_has_a_place),
		cmocka_unit_test(a_place_has_the_direction_of_its_function),
		cmocka_unit_test(a_proven_total_has_a_place_where_no_node_says_so),
		cmocka_unit_test(no_proven_change_is_without_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
