/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/foreign.h"
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct profile *read_text(const char *text)
{
	struct profile *profile;
	struct error err;

	if (!foreign_read(text, strlen(text), "test", &profile, &err))
		fail_msg("%s", err.message);
	return profile;
}

static const char *node_name(const struct profile *profile, const struct profile_tree *tree, uint32_t node)
{
	return profile_string(profile, profile->functions[tree->functions[node]].name);
}

static uint32_t child_named(
	const struct profile *profile, const struct profile_tree *tree, uint32_t parent, const char *name)
{
	for (uint32_t i = 1; i < tree->node_count; i++)
		if (tree->parents[i] == parent && strcmp(node_name(profile, tree, i), name) == 0)
			return i;
	fail_msg("no child %s", name);
	return 0;
}

static void assert_tree_adds_up(const struct profile_tree *tree)
{
	int64_t self = 0;

	for (size_t i = 0; i < tree->node_count; i++) {
		int64_t below = tree->self[i];

		for (size_t k = i + 1; k < tree->node_count; k++)
			if (tree->parents[k] == i)
				below += tree->total[k];
		assert_int_equal(tree->total[i], below);
		assert_true(i == 0 || tree->parents[i] < i);
		self += tree->self[i];
	}
	assert_int_equal(self, tree->total[0]);
}

static void the_tree_adds_up(void **state)
{
	struct profile *profile = read_text("main;a;b 3\nmain;a 2\nmain;c;b 4\nother 1\n");
	struct profile_tree *tree;
	struct error err;
	uint32_t main_node, a;

	(void)state;
	assert_true(profile_tree_create(profile, &tree, &err));
	assert_tree_adds_up(tree);
	assert_int_equal(tree->node_count, 7);
	assert_int_equal(tree->total[0], 10);
	main_node = child_named(profile, tree, 0, "main");
	a = child_named(profile, tree, main_node, "a");
	assert_int_equal(tree->total[main_node], 9);
	assert_int_equal(tree->self[main_node], 0);
	assert_int_equal(tree->total[a], 5);
	assert_int_equal(tree->self[a], 2);
	assert_int_equal(tree->total[child_named(profile, tree, a, "b")], 3);
	profile_tree_destroy(tree);
	profile_destroy(profile);
}

static void functions_of_one_key_are_one_node(void **state)
{
	struct profile *profile = read_text("main;work.isra.0 3\nmain;work.cold 2\nmain;work 1\n");
	struct profile_tree *tree;
	struct error err;

	(void)state;
	assert_true(profile_tree_create(profile, &tree, &err));
	assert_int_equal(tree->node_count, 3);
	assert_int_equal(tree->total[2], 6);
	profile_tree_destroy(tree);
	profile_destroy(profile);
}

/* Seeded stacks of every shape: however they fall, the sums hold. */
static void any_tree_adds_up(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 30; round++) {
		struct profile_tree *tree;
		struct profile *profile;
		struct buffer text;
		struct error err;
		int64_t sum = 0;

		buffer_init(&text, 1 << 20);
		for (int line = 0; line < 40; line++) {
			int depth = 1 + rand() % 12, count = rand() % 100;

			for (int i = 0; i < depth; i++)
				buffer_printf(&text, "%s%c", i ? ";" : "", 'a' + rand() % 4);
			buffer_printf(&text, " %d\n", count);
			sum += count;
		}
		profile = read_text(text.data);
		assert_true(profile_tree_create(profile, &tree, &err));
		assert_int_equal(tree->total[0], sum);
		assert_tree_adds_up(tree);
		profile_tree_destroy(tree);
		profile_destroy(profile);
		buffer_deinit(&text);
	}
}

static uint32_t mapping_of(
	struct profile *profile, const char *path, const char *build_id, uint64_t start, bool deleted)
{
	struct profile_mapping mapping = {
		.kind = PROFILE_MAPPING_FILE, .start = start, .end = start + 16, .deleted = deleted
	};
	struct error err;
	uint32_t id;

	assert_true(profile_intern(profile, path, &mapping.path, &err));
	assert_true(profile_intern(profile, build_id, &mapping.build_id, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	return id;
}

static void a_binary_is_one_mapping_wherever_it_lay(void **state)
{
	struct profile *profile;
	struct error err;

	(void)state;
	assert_true(profile_create(&profile, &err));
	assert_int_equal(mapping_of(profile, "/a/lib.so.1", "aa", 0, false), 0);
	assert_int_equal(mapping_of(profile, "/moved/lib.so.1", "aa", 0, true), 0);
	assert_true(profile->mappings[0].deleted);
	assert_int_equal(mapping_of(profile, "/a/lib.so.1", "bb", 0, false), 1);
	assert_int_equal(mapping_of(profile, "/no-id", "", 0, false), 2);
	assert_int_equal(mapping_of(profile, "/no-id", "", 0, false), 2);
	assert_int_equal(mapping_of(profile, "/other", "", 0, false), 3);
	assert_string_equal(profile_string(profile, profile->mappings[0].module), "lib.so");
	profile_destroy(profile);
}

static void events_are_put_in_order(void **state)
{
	static const int64_t times[] = { 30, 10, 20, 5 };
	struct profile *profile;
	struct profile_run run = { 0 };
	struct profile_thread thread = { 0 };
	uint32_t location, stack;
	struct error err;

	(void)state;
	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_run(profile, &run, &thread.run, &err));
	assert_true(profile_add_location(profile, PROFILE_NONE, 0x1000, &location, &err));
	assert_true(profile_add_stack(profile, 0, location, &stack, &err));
	for (size_t i = 0; i < 4; i++) {
		struct profile_thread by = thread;
		int64_t one = 1;
		uint32_t id;

		by.tid = (int32_t)(i % 2);
		assert_true(profile_add_thread(profile, &by, &id, &err));
		assert_true(profile_add_sample(profile, stack, id, &one, times[i], &err));
	}
	assert_true(profile_finish(profile, &err));
	assert_int_equal(profile->sample_count, 2);
	assert_int_equal(profile->event_count, 4);
	for (size_t i = 1; i < 4; i++)
		assert_true(profile->events[i - 1].time_ns <= profile->events[i].time_ns);
	assert_true(profile->has_timeline);
	{
		int64_t one = 1;

		assert_true(profile_add_sample(profile, stack, 0, &one, -1, &err));
		assert_false(profile->has_timeline);
	}
	profile_destroy(profile);
}

static void value_types_come_before_samples_and_are_few(void **state)
{
	struct profile *profile;
	struct error err = { 0 };

	(void)state;
	assert_true(profile_create(&profile, &err));
	for (int i = 1; i < PROFILE_MAX_VALUE_TYPES; i++)
		assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_false(profile_add_value_type(profile, "one", "more", &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	profile_destroy(profile);
	profile = read_text("main 1\n");
	assert_false(profile_add_value_type(profile, "late", "count", &err));
	assert_int_equal(err.code, ERROR_USAGE);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_adds_up),
		cmocka_unit_test(functions_of_one_key_are_one_node),
		cmocka_unit_test(any_tree_adds_up),
		cmocka_unit_test(a_binary_is_one_mapping_wherever_it_lay),
		cmocka_unit_test(events_are_put_in_order),
		cmocka_unit_test(value_types_come_before_samples_and_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
