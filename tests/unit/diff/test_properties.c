/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 12 };

static double points_of(const struct diff *diff)
{
	return fmax(diff->total.base, diff->total.head);
}

/* A pair in every mode of evidence, with something changed in it. */
static void make_pair(unsigned long seed, struct profile **base, struct profile **head)
{
	struct simulation s = simulation_create(seed, 30, 0.1);
	struct simulated_change change = { .function = 0, .times = 1.5, .other_code = seed % 2 };

	if (seed % 3 == 0) {
		*base = simulation_runs(&s, 5, 5000, NULL);
		*head = simulation_runs(&s, 4, 4000, &change);
	} else {
		*base = simulation_attached(&s, seed % 3 == 1 ? 6 : 1, 5000, NULL);
		*head = simulation_attached(&s, 7, 9000, &change);
	}
	simulation_deinit(&s);
}

static void a_profile_against_itself_is_neutral(void **state)
{
	for (unsigned long seed = 0; seed < SEEDS; seed++) {
		CLEANUP(profile_cleanup) struct profile *base = NULL, *head = NULL;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		make_pair(seed, &base, &head);
		diff = synthetic_diff(base, base, NULL);
		assert_int_equal(diff->verdict == DIFF_UNCHANGED || diff->verdict == DIFF_INCONCLUSIVE, 1);
		assert_true(diff->total.delta == 0);
		for (size_t i = 0; i < diff->function_count; i++) {
			assert_true(diff->functions[i].total.delta == 0 && diff->functions[i].self.delta == 0);
			assert_int_equal(diff->functions[i].total.state, DIFF_STATE_SAME);
			assert_int_equal(diff->functions[i].self.state, DIFF_STATE_SAME);
		}
		for (size_t i = 0; i < diff->node_count; i++)
			assert_int_equal(diff->nodes[i].state, DIFF_STATE_SAME);
	}
}

static const struct diff_function *by_key(const struct diff *diff, const char *key)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		if (strcmp(diff_string(diff, diff->functions[i].key), key) == 0)
			return &diff->functions[i];
	}
	fail_msg("no key %s", key);
	return NULL;
}

static void swapping_the_sides_negates_every_delta(void **state)
{
	for (unsigned long seed = 0; seed < SEEDS; seed++) {
		CLEANUP(profile_cleanup) struct profile *base = NULL, *head = NULL;
		CLEANUP(diff_cleanup) struct diff *there = NULL, *back = NULL;

		make_pair(seed, &base, &head);
		there = synthetic_diff(base, head, NULL);
		back = synthetic_diff(head, base, NULL);
		assert_true(fabs(there->scale.factor * back->scale.factor - 1) < 1e-9);
		assert_int_equal(there->function_count, back->function_count);
		for (size_t i = 0; i < there->function_count; i++) {
			const struct diff_function *f = &there->functions[i];
			const struct diff_function *g = by_key(back, diff_string(there, f->key));

			assert_true(fabs(f->total.delta / points_of(there) + g->total.delta / points_of(back)) < 1e-9);
			assert_true(fabs(f->self.delta / points_of(there) + g->self.delta / points_of(back)) < 1e-9);
			if (!isnan(f->total.q) && !isnan(g->total.q))
				assert_true(fabs(f->total.q - g->total.q) < 1e-6);
		}
	}
}

static void totals_are_sums_and_the_ledger_adds_up(void **state)
{
	for (unsigned long seed = 0; seed < SEEDS; seed++) {
		struct profile *base, *head;
		double base_sum = 0, head_sum = 0, delta = 0;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		make_pair(seed, &base, &head);
		diff = synthetic_compare(base, head, NULL);
		for (int side = 0; side < DIFF_SIDES; side++) {
			double self = 0, functions = 0;

			for (size_t i = 0; i < diff->node_count; i++)
				self += diff->node_self[side][i];
			for (size_t i = 0; i < diff->function_count; i++)
				functions += diff->functions[i].raw_self[side];
			assert_true(self == diff->raw_total[side] && functions == self);
			assert_true(diff->node_total[side][0] == self);
		}
		for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
			base_sum += diff->origins[i].base;
			head_sum += diff->origins[i].head;
			delta += diff->origins[i].delta;
		}
		assert_true(base_sum == diff->total.base && head_sum == diff->total.head && delta == diff->total.delta);
	}
}

/* Few functions in many frames, and one in a frame of its own. */
static void put_stacks(struct buffer *text, unsigned int target)
{
	static const char names[] = "abcdefgh";

	for (const char *x = names; *x; x++)
		for (const char *y = names; *y; y++)
			for (const char *z = names; *z; z++)
				buffer_printf(text, "main;%c;%c;%c 20\n", *x, *y, *z);
	buffer_printf(text, "main;target %u\n", target);
	buffer_append_byte(text, '\0');
}

/* As a list and a picture show it side by side: there are more frames than functions, but this frame is the function.
 */
static void check_frame(const struct diff *diff)
{
	size_t found = 0;

	for (size_t i = 1; i < diff->node_count; i++) {
		const struct diff_function *f = &diff->functions[diff->nodes[i].function];

		if (strcmp(diff_string(diff, f->name), "target") != 0)
			continue;
		assert_int_equal(diff->nodes[i].state, f->total.state);
		assert_true(diff->nodes[i].ci_low == (float)f->total.ci_low);
		found++;
	}
	assert_int_equal(found, 1);
}

static void a_frame_with_all_of_its_functions_time_has_its_state(void **state)
{
	enum { BASE = 400, STEP = 10, MOST = 1200 };

	for (unsigned int samples = BASE + STEP; samples < MOST; samples += STEP) {
		CLEANUP(buffer_deinit) struct buffer before = { 0 }, after = { 0 };
		struct profile *base, *head;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		buffer_init(&before, 1 << 16);
		buffer_init(&after, 1 << 16);
		put_stacks(&before, BASE);
		put_stacks(&after, samples);
		base = synthetic_profile(before.data);
		head = synthetic_profile(after.data);
		diff = synthetic_compare(base, head, NULL);
		check_frame(diff);
	}
}

static void assert_same_diff(const struct diff *a, const struct diff *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->function_count, b->function_count);
	assert_int_equal(a->verdict, b->verdict);
	assert_float_equal(a->scale.factor, b->scale.factor, 1e-12);
	for (size_t i = 0; i < a->node_count; i++) {
		assert_int_equal(a->nodes[i].subtree_end, b->nodes[i].subtree_end);
		assert_int_equal(a->nodes[i].state, b->nodes[i].state);
		for (int side = 0; side < DIFF_SIDES; side++)
			assert_true(a->node_total[side][i] == b->node_total[side][i]);
	}
	for (size_t i = 0; i < a->function_count; i++) {
		const struct diff_function *f = &a->functions[i], *g = &b->functions[i];

		assert_string_equal(diff_string(a, f->key), diff_string(b, g->key));
		assert_int_equal(f->total.state, g->total.state);
		assert_true((isnan(f->total.q) && isnan(g->total.q)) || fabs(f->total.q - g->total.q) < 1e-9);
	}
}

static void merging_runs_first_gives_the_same_diff(void **state)
{
	static const char *const lines[] = { "main;a 100\nmain;b 300\n", "main;b 290\nmain;c 20\n",
		"main;a 120\nmain;b;c 280\n" };
	struct synthetic all = synthetic_create();
	CLEANUP(profile_cleanup)
	struct profile *merged = NULL, *together = NULL, *head = synthetic_runs("main;a 110\nmain;b 250\n", 3);
	CLEANUP(diff_cleanup) struct diff *a = NULL, *b = NULL;
	struct error err;

	assert_true(profile_create(&merged, &err));
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(profile_cleanup) struct profile *one = synthetic_runs(lines[i], 1);

		if (i == 0)
			assert_true(profile_add_value_type(merged, "cpu", "nanoseconds", &err));
		assert_true(profile_merge(merged, one, &err));
	}
	for (size_t i = 0; i < 3; i++) {
		char copy[64], *at = copy, *line;

		synthetic_run(&all, true, 0);
		strcpy(copy, lines[i]);
		while ((line = strsep(&at, "\n")) && *line) {
			char *count = strchr(line, ' ');

			*count++ = '\0';
			synthetic_add(&all, synthetic_stack(&all, line), strtol(count, NULL, 10), -1);
		}
	}
	together = synthetic_finish(&all);
	a = synthetic_diff(merged, head, NULL);
	b = synthetic_diff(together, head, NULL);
	assert_int_equal(a->evidence.mode, DIFF_EVIDENCE_RUNS);
	assert_same_diff(a, b);
}

static void the_order_of_samples_does_not_matter(void **state)
{
	CLEANUP(profile_cleanup) struct profile *head = synthetic_profile("main;a 400\nmain;b 300\nmain;new 90\n");
	CLEANUP(profile_cleanup)
	struct profile *one = synthetic_profile("main;a 200\nmain;b;c 70\nmain;b 310\nx;y 4\n");
	CLEANUP(profile_cleanup)
	struct profile *other = synthetic_profile("x;y 4\nmain;b 300\nmain;a 150\nmain;b;c 70\nmain;a 50\nmain;b 10\n");
	CLEANUP(diff_cleanup) struct diff *a = synthetic_diff(one, head, NULL), *b = synthetic_diff(other, head, NULL);

	assert_same_diff(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_against_itself_is_neutral),
		cmocka_unit_test(swapping_the_sides_negates_every_delta),
		cmocka_unit_test(totals_are_sums_and_the_ledger_adds_up),
		cmocka_unit_test(a_frame_with_all_of_its_functions_time_has_its_state),
		cmocka_unit_test(merging_runs_first_gives_the_same_diff),
		cmocka_unit_test(the_order_of_samples_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
