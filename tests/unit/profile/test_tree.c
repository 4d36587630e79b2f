/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct profile_tree *tree_of(const struct profile *profile)
{
	struct profile_tree *tree;
	struct error err;

	if (!profile_tree_create(profile, &tree, &err))
		fail_msg("%s", err.message);
	assert_int_equal(tree->parents[0], PROFILE_NONE);
	assert_int_equal(tree->functions[0], PROFILE_NONE);
	for (size_t i = 1; i < tree->node_count; i++)
		assert_true(tree->parents[i] < i);
	return tree;
}

/* The node that one reaches from the root by names, separated by `;`. */
static uint32_t node_at(const struct profile *profile, const struct profile_tree *tree, const char *path)
{
	uint32_t node = 0;

	while (*path) {
		size_t size = strcspn(path, ";");
		uint32_t child = 1;

		for (; child < tree->node_count; child++) {
			const char *name = profile_string(profile, profile->functions[tree->functions[child]].name);

			if (tree->parents[child] == node && strlen(name) == size && memcmp(name, path, size) == 0)
				break;
		}
		if (child == tree->node_count)
			fail_msg("no node %s", path);
		node = child;
		path += size + (path[size] == ';');
	}
	return node;
}

static void expect_node(
	const struct profile *profile, const struct profile_tree *tree, const char *path, int64_t self, int64_t total)
{
	uint32_t node = node_at(profile, tree, path);

	assert_int_equal(tree->self[node * tree->value_type_count], self);
	assert_int_equal(tree->total[node * tree->value_type_count], total);
}

/* A function that calls itself lies within its own total: the topmost node of it holds each sample once. */
static void recursion_counts_once(void **state)
{
	static const char text[] = "f;f;f 1\nf;g;f 2\nf 4\n";
	struct profile *profile = read_profile(text, strlen(text));
	struct profile_tree *tree = tree_of(profile);

	(void)state;
	assert_int_equal(tree->node_count, 6);
	expect_node(profile, tree, "f", 4, 7);
	expect_node(profile, tree, "f;f", 0, 1);
	expect_node(profile, tree, "f;f;f", 1, 1);
	expect_node(profile, tree, "f;g;f", 2, 2);
	profile_tree_destroy(tree);
	profile_destroy(profile);
}

static void inlined_frames_are_nodes_and_all_values_are_summed(void **state)
{
	struct profile *profile = sample_profile();
	struct profile_tree *tree = tree_of(profile);
	uint32_t main_node = node_at(profile, tree, "main");
	uint32_t inlined = node_at(profile, tree, "main;ns::outer();ns::inlined(int)");
	int64_t self[2] = { 0 };

	(void)state;
	assert_int_equal(tree->value_type_count, 2);
	for (uint32_t v = 0; v < 2; v++) {
		assert_int_equal(tree->total[v], profile_sum(profile, v));
		assert_int_equal(tree->total[main_node * 2 + v], profile_sum(profile, v));
		assert_int_equal(tree->total[inlined * 2 + v], profile_sum(profile, v) / 3 * 2);
		for (size_t i = 0; i < tree->node_count; i++)
			self[v] += tree->self[i * 2 + v];
		assert_int_equal(self[v], profile_sum(profile, v));
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		assert_true(tree->stack_nodes[profile->samples[i].stack] > 0);
	profile_tree_destroy(tree);
	profile_destroy(profile);
}

static void an_empty_profile_has_a_root(void **state)
{
	struct profile *profile;
	struct profile_tree *tree;
	struct error err;

	(void)state;
	assert_true(profile_create(&profile, &err));
	tree = tree_of(profile);
	assert_int_equal(tree->node_count, 1);
	assert_int_equal(tree->total[0], 0);
	profile_tree_destroy(tree);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inlined_frames_are_nodes_and_all_values_are_summed),
		cmocka_unit_test(an_empty_profile_has_a_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
