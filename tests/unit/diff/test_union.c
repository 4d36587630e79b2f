/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ms = SYNTHETIC_SAMPLE_NS;

static const char *node_name(const struct diff *diff, size_t node)
{
	return node == 0 ? "" : diff_string(diff, diff->functions[diff->nodes[node].function].name);
}

static void assert_node(const struct diff *diff, size_t node, const char *name, double base_ms, double head_ms)
{
	assert_string_equal(node_name(diff, node), name);
	assert_true(diff->node_total[DIFF_BASE][node] == base_ms * ms);
	assert_true(diff->node_total[DIFF_HEAD][node] == head_ms * ms);
}

static void nodes_are_the_union_in_preorder_and_order_of_key(void **state)
{
	struct profile *base = synthetic_profile("main;b;x 10\nmain;d 20\n");
	struct profile *head = synthetic_profile("main;d 20\nmain;c 5\nmain;b;y 10\nmain;a 7\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(diff->node_count, 8);
	assert_node(diff, 0, "", 30, 42);
	assert_node(diff, 1, "main", 30, 42);
	assert_node(diff, 2, "a", 0, 7);
	assert_node(diff, 3, "b", 10, 10);
	assert_node(diff, 4, "x", 10, 0);
	assert_node(diff, 5, "y", 0, 10);
	assert_node(diff, 6, "c", 0, 5);
	assert_node(diff, 7, "d", 20, 20);
	assert_int_equal(diff->nodes[0].subtree_end, 8);
	assert_int_equal(diff->nodes[3].subtree_end, 6);
	assert_int_equal(diff->nodes[4].parent, 3);
	assert_int_equal(diff->nodes[4].depth, 3);
	assert_true(diff->nodes[0].parent == PROFILE_NONE && diff->nodes[0].function == PROFILE_NONE);
}

static void recursion_counts_once(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = synthetic_profile("main;f;f;g;f 10\nmain;f;h 5\nmain;g 3\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, base, NULL);
	const struct diff_function *f = synthetic_function(diff, "f"), *g = synthetic_function(diff, "g");

	assert_true(f->raw_total[DIFF_BASE] == 15 * ms);
	assert_true(f->raw_self[DIFF_BASE] == 10 * ms);
	assert_true(g->raw_total[DIFF_HEAD] == 13 * ms);
}

static void samples_find_their_leaf(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = synthetic_profile("main;b 1\nmain;a;^inner 2\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, base, NULL);

	for (int side = 0; side < DIFF_SIDES; side++) {
		assert_string_equal(node_name(diff, diff->sample_nodes[side][0]), "b");
		assert_string_equal(node_name(diff, diff->sample_nodes[side][1]), "inner");
	}
}

static void a_node_is_inlined_when_it_was_never_seen_otherwise(void **state)
{
	struct profile *base = synthetic_profile("main;f;^g 1\nmain;^h 1\n");
	struct profile *head = synthetic_profile("main;f;^g 1\nmain;h 1\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(diff->node_count, 5);
	assert_int_equal(diff->nodes[1].flags, 0);
	assert_int_equal(diff->nodes[2].flags, 0);
	assert_int_equal(diff->nodes[3].flags, DIFF_NODE_INLINED);
	assert_string_equal(node_name(diff, 4), "h");
	assert_int_equal(diff->nodes[4].flags, 0);
}

static void one_side_has_a_tree_and_no_deltas(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = synthetic_profile("main;b 10\nmain;a 30\n");
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	assert_true(diff_create_single(profile, NULL, &diff, &err));
	assert_int_equal(diff->sides, 1);
	assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_NONE);
	assert_int_equal(diff->node_count, 4);
	assert_string_equal(diff_string(diff, diff->functions[0].name), "main");
	assert_string_equal(diff_string(diff, diff->functions[1].name), "a");
	assert_true(diff->functions[1].self.head == 30 * ms && diff->functions[1].self.base == 0);
	assert_int_equal(diff->functions[1].total.state, DIFF_STATE_SAME);
	assert_string_equal(diff_string(diff, diff->metric), "cpu");
	assert_null(diff->sample_nodes[DIFF_BASE]);
}

static void very_deep_stacks_work_and_deeper_ones_are_refused(void **state)
{
	for (int too_deep = 0; too_deep < 2; too_deep++) {
		struct synthetic s = synthetic_create();
		uint32_t stack = 0, frame, depth = too_deep ? 65600 : 60000, location;
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;
		struct error err;

		synthetic_run(&s, false, 0);
		frame = synthetic_stack(&s, "f");
		location = s.profile->stacks[frame].location;
		for (uint32_t i = 0; i < depth; i++)
			assert_true(profile_add_stack(s.profile, stack, location, &stack, &err));
		synthetic_add(&s, stack, 10, -1);
		profile = synthetic_finish(&s);
		if (too_deep) {
			assert_false(diff_create(profile, profile, NULL, &diff, &err));
			assert_int_equal(err.code, ERROR_LIMIT);
			assert_null(diff);
		} else {
			assert_true(diff_create(profile, profile, NULL, &diff, &err));
			assert_int_equal(diff->nodes[diff->node_count - 1].depth, depth);
			assert_true(synthetic_function(diff, "f")->raw_total[DIFF_BASE] == 10 * ms);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_the_union_in_preorder_and_order_of_key),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(samples_find_their_leaf),
		cmocka_unit_test(a_node_is_inlined_when_it_was_never_seen_otherwise),
		cmocka_unit_test(one_side_has_a_tree_and_no_deltas),
		cmocka_unit_test(very_deep_stacks_work_and_deeper_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
