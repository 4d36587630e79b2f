/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct profile_tree *tree_of(const struct profile *profile)
{
	struct profile_tree *tree;
	struct error err;

	if (!profile_tree_create(profile, NULL, &tree, &err))
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

/* The sum of the samples whose stacks end in a node. */
static int64_t self_of(
	const struct profile *profile, const struct profile_tree *tree, uint32_t node, uint32_t value_type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		if (tree->stack_nodes[profile->samples[i].stack] == node)
			sum += profile->values[i * profile->value_type_count + value_type];
	return sum;
}

/* The same, and that of all nodes below. */
static int64_t total_of(
	const struct profile *profile, const struct profile_tree *tree, uint32_t node, uint32_t value_type)
{
	int64_t sum = self_of(profile, tree, node, value_type);

	for (uint32_t i = node + 1; i < tree->node_count; i++)
		if (tree->parents[i] == node)
			sum += total_of(profile, tree, i, value_type);
	return sum;
}

static void expect_node(
	const struct profile *profile, const struct profile_tree *tree, const char *path, int64_t self, int64_t total)
{
	uint32_t node = node_at(profile, tree, path);

	assert_int_equal(self_of(profile, tree, node, 0), self);
	assert_int_equal(total_of(profile, tree, node, 0), total);
}

/* A function that calls itself lies within its own total: the topmost node of it holds each sample once. */
static void recursion_counts_once(void **state)
{
	static const char text[] = "f;f;f 1\nf;g;f 2\nf 4\n";
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));
	struct profile_tree *tree = tree_of(profile);

	assert_int_equal(tree->node_count, 6);
	expect_node(profile, tree, "f", 4, 7);
	expect_node(profile, tree, "f;f", 0, 1);
	expect_node(profile, tree, "f;f;f", 1, 1);
	expect_node(profile, tree, "f;g;f", 2, 2);
	profile_tree_destroy(tree);
}

static void functions_of_one_key_are_one_node(void **state)
{
	static const char text[] = "main;work.isra.0 3\nmain;work.cold 2\nmain;work 1\n";
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));
	struct profile_tree *tree = tree_of(profile);

	assert_int_equal(tree->node_count, 3);
	assert_int_equal(self_of(profile, tree, 2, 0), 6);
	profile_tree_destroy(tree);
}

static void inlined_frames_are_nodes(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	struct profile_tree *tree = tree_of(profile);
	uint32_t main_node = node_at(profile, tree, "main");
	uint32_t inlined = node_at(profile, tree, "main;ns::outer();ns::inlined(int)");

	for (uint32_t v = 0; v < 2; v++) {
		assert_int_equal(total_of(profile, tree, main_node, v), profile_sum(profile, v));
		assert_int_equal(total_of(profile, tree, inlined, v), profile_sum(profile, v) / 3 * 2);
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		assert_true(tree->stack_nodes[profile->samples[i].stack] > 0);
	profile_tree_destroy(tree);
}

/* A stack with one frame more: at an address in the function of that number. */
static uint32_t add_call(struct profile *profile, uint32_t parent, uint32_t number, uint64_t address)
{
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	struct error err;
	char name[32];
	uint32_t location, stack;

	snprintf(name, sizeof(name), "callee_%u", number);
	assert_true(profile_intern(profile, name, &function.name, &err));
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	assert_true(profile_add_location(profile, PROFILE_NONE, address, &location, &err));
	assert_true(profile_set_lines(profile, location, &line, 1, &err));
	assert_true(profile_add_stack(profile, parent, location, &stack, &err));
	return stack;
}

/* Two places each in many functions, all called from one: the places differ, the nodes are the functions'. */
static void many_callees_are_one_node_each(void **state)
{
	enum { CALLEES = 40, PLACES = 2 * CALLEES };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_tree *tree;
	struct profile_thread thread = { 0 };
	struct error err;
	uint32_t run, caller, id;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_run(profile, &(struct profile_run){ 0 }, &run, &err));
	assert_true(profile_add_thread(profile, &thread, &id, &err));
	caller = add_call(profile, 0, CALLEES, 0x1000);
	for (uint32_t i = 0; i < PLACES; i++) {
		uint32_t stack = add_call(profile, caller, i % CALLEES, 0x2000 + i);

		assert_true(profile_add_sample(profile, stack, id, &(int64_t){ 1 }, -1, &err));
	}
	tree = tree_of(profile);
	assert_int_equal(tree->node_count, 2 + CALLEES);
	for (size_t node = 2; node < tree->node_count; node++) {
		assert_int_equal(tree->parents[node], 1);
		assert_int_equal(self_of(profile, tree, (uint32_t)node, 0), 2);
	}
	profile_tree_destroy(tree);
}

static void an_empty_profile_has_a_root(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_tree *tree;
	struct error err;

	assert_true(profile_create(&profile, &err));
	tree = tree_of(profile);
	assert_int_equal(tree->node_count, 1);
	profile_tree_destroy(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(functions_of_one_key_are_one_node),
		cmocka_unit_test(inlined_frames_are_nodes),
		cmocka_unit_test(many_callees_are_one_node_each),
		cmocka_unit_test(an_empty_profile_has_a_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
