/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs_fixture.h"
#include "simulation_fixture.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of two profiles is compared as their whole was: by its scale, its load, its machine and its variation. */

/* Several recordings as one profile of several runs. */
static struct profile *read_runs(const char *prefix, int count)
{
	char name[64];
	struct profile *all = NULL;
	struct error err;

	for (int i = 1; i <= count; i++) {
		struct profile *one;

		snprintf(name, sizeof(name), "%s_%d", prefix, i);
		one = read_pair(name);
		if (!all) {
			all = one;
			continue;
		}
		if (!profile_merge(all, one, &err))
			fail_msg("%s", err.message);
		profile_destroy(one);
	}
	if (!profile_finish(all, &err))
		fail_msg("%s", err.message);
	return all;
}

/* ---- Parts ---- */

/* One group for each function of the diff, of the samples whose nodes are that function's; interrupts are left out. */
static struct profile *by_leaf(const struct diff *diff, const struct profile *profile, enum diff_side side)
{
	CLEANUP(cleanup_free) const char **names = calloc(diff->function_count + 1, sizeof(*names));
	CLEANUP(cleanup_free) uint32_t *first = calloc(profile->sample_count + 1, sizeof(*first));
	CLEANUP(cleanup_free) uint32_t *groups = calloc(profile->sample_count + 1, sizeof(*groups));
	CLEANUP(cleanup_free) bool *left_out = calloc(profile->sample_count + 1, sizeof(*left_out));
	struct profile_regrouping regrouping = { .names = names,
		.group_count = diff->function_count,
		.first = first,
		.groups = groups,
		.rest = "(no stack)",
		.left_out = left_out };
	struct profile *made;
	uint32_t count = 0;
	struct error err;

	for (size_t i = 0; i < diff->function_count; i++)
		names[i] = diff_string(diff, diff->functions[i].key);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct diff_node *node = &diff->nodes[diff->sample_nodes[side][i]];

		first[i] = count;
		left_out[i] = node->flags & DIFF_NODE_INTERRUPT;
		if (node->function != PROFILE_NONE)
			groups[count++] = node->function;
	}
	first[profile->sample_count] = count;
	if (!profile_regroup(profile, &regrouping, &made, &err))
		fail_msg("%s", err.message);
	return made;
}

static struct diff *compare_parts(const struct diff *whole, struct profile *base, struct profile *head)
{
	const struct diff_options options = { .like = whole };
	struct diff *diff = synthetic_diff(base, head, &options);

	profile_destroy(base);
	profile_destroy(head);
	return diff;
}

static struct diff *compare_by_leaf(const struct diff *whole, struct profile *const profiles[DIFF_SIDES])
{
	return compare_parts(
		whole, by_leaf(whole, profiles[DIFF_BASE], DIFF_BASE), by_leaf(whole, profiles[DIFF_HEAD], DIFF_HEAD));
}

/* Every sample of the function and no other: all that a filter leaves. */
static struct profile *only(
	const struct diff *diff, const struct profile *profile, enum diff_side side, uint32_t function)
{
	CLEANUP(cleanup_free) uint32_t *none = calloc(profile->sample_count + 1, sizeof(*none));
	CLEANUP(cleanup_free) bool *left_out = calloc(profile->sample_count + 1, sizeof(*left_out));
	const struct profile_regrouping regrouping = {
		.first = none, .groups = none, .rest = "it", .left_out = left_out
	};
	struct profile *made;
	struct error err;

	for (size_t i = 0; i < profile->sample_count; i++)
		left_out[i] = diff->nodes[diff->sample_nodes[side][i]].function != function;
	if (!profile_regroup(profile, &regrouping, &made, &err))
		fail_msg("%s", err.message);
	return made;
}

static bool is_near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

static void assert_scaled_alike(const struct diff *part, const struct diff *whole)
{
	assert_true(part->scale.factor == whole->scale.factor);
	assert_int_equal(part->scale.mode, whole->scale.mode);
	assert_int_equal(part->scale.load_is_unknown, whole->scale.load_is_unknown);
	assert_int_equal(part->evidence.mode, whole->evidence.mode);
	assert_string_equal(diff_string(part, part->scale_text), diff_string(whole, whole->scale_text));
	assert_string_equal(diff_string(part, part->metric), diff_string(whole, whole->metric));
}

/* ---- Tests ---- */

struct pair {
	const char *base, *head;
	int runs;
};

static const struct pair pairs[] = { { "quiet_1", "quiet_2", 0 }, { "noisy_1", "noisy_2", 0 },
	{ "nginx_base", "nginx_head", 0 }, { "gunicorn_base", "gunicorn_head", 0 }, { "redis_base", "redis_head", 0 },
	{ "locked_base", "locked_head", 0 }, { "inlined_base", "inlined_head", 5 }, { "shell_base", "shell_head", 5 },
	{ "criterion_base", "criterion_head", 3 } };

static void read_sides(const struct pair *pair, struct profile *sides[DIFF_SIDES])
{
	sides[DIFF_BASE] = pair->runs ? read_runs(pair->base, pair->runs) : read_pair(pair->base);
	sides[DIFF_HEAD] = pair->runs ? read_runs(pair->head, pair->runs) : read_pair(pair->head);
}

static const struct diff_function *group_of(const struct diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (strcmp(diff_string(diff, diff->functions[i].name), name) == 0)
			return &diff->functions[i];
	return NULL;
}

static void groups_have_the_scale_and_the_times_of_the_whole(void **state)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct profile *sides[DIFF_SIDES];
		CLEANUP(diff_cleanup) struct diff *whole = NULL, *part = NULL;
		size_t compared = 0;

		read_sides(&pairs[i], sides);
		whole = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
		part = compare_by_leaf(whole, sides);
		assert_scaled_alike(part, whole);
		assert_true(is_near(part->total.base, whole->total.base));
		assert_true(is_near(part->total.head, whole->total.head));
		assert_true(is_near(part->total.ci_low, whole->total.ci_low));
		assert_true(is_near(part->total.q, whole->total.q));
		assert_int_equal(part->total.state, whole->total.state);
		for (size_t f = 0; f < whole->function_count; f++) {
			const struct diff_function *function = &whole->functions[f];
			const struct diff_function *group = group_of(part, diff_string(whole, function->key));

			if (!group || function->language != PROFILE_LANGUAGE_NATIVE ||
				diff_wait_class(whole, function) != PROFILE_WAIT_NONE)
				continue;
			assert_true(is_near(group->self.delta, function->self.delta) ||
				    function->interprets != PROFILE_LANGUAGE_NATIVE);
			compared++;
		}
		assert_true(compared > 0 || whole->function_count < 20);
		profile_destroy(sides[DIFF_BASE]);
		profile_destroy(sides[DIFF_HEAD]);
	}
}

/* With runs a function is judged by its own differences between them, so that its group has its interval. */
static void groups_of_runs_have_the_intervals_of_their_functions(void **state)
{
	for (unsigned long seed = 0; seed < 8; seed++) {
		struct simulation s = simulation_create(seed, 30, 0.1);
		struct simulated_change change = { .function = 0, .times = 1.5 };
		struct profile *sides[] = { simulation_runs(&s, 5, 5000, NULL),
			simulation_runs(&s, 4, 4000, seed % 2 ? &change : NULL) };
		CLEANUP(diff_cleanup) struct diff *whole = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
		CLEANUP(diff_cleanup) struct diff *part = compare_by_leaf(whole, sides);
		size_t tested = 0, alike = 0;

		for (size_t f = 0; f < whole->function_count; f++) {
			const struct diff_estimate *self = &whole->functions[f].self;
			const struct diff_function *group = group_of(part, diff_string(whole, whole->functions[f].key));

			if (!group || isnan(self->q))
				continue;
			tested++;
			assert_true(is_near(group->self.delta, self->delta));
			/* The family of groups has no rows of callers: near the rate, the one may be proven alone. */
			if (group->self.state != self->state)
				continue;
			assert_true(is_near(group->self.ci_low, self->ci_low));
			assert_true(is_near(group->self.ci_high, self->ci_high));
			alike++;
		}
		assert_true(tested >= 8 && alike + 1 >= tested);
		simulation_deinit(&s);
		profile_destroy(sides[DIFF_BASE]);
		profile_destroy(sides[DIFF_HEAD]);
	}
}

/* Each function by itself: only its samples are left, and its total is tested as its row was. */
static void a_single_function_is_judged_as_in_the_whole(void **state)
{
	struct simulation s = simulation_create(3, 30, 0.1);
	struct simulated_change change = { .function = 0, .times = 1.5 };
	struct profile *sides[] = { simulation_runs(&s, 5, 5000, NULL), simulation_runs(&s, 5, 5000, &change) };
	CLEANUP(diff_cleanup) struct diff *whole = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	size_t proven = 0;

	for (uint32_t f = 0; f < whole->function_count; f++) {
		const struct diff_estimate *self = &whole->functions[f].self;
		CLEANUP(diff_cleanup) struct diff *part = NULL;

		if (isnan(self->q))
			continue;
		part = compare_parts(whole, only(whole, sides[DIFF_BASE], DIFF_BASE, f),
			only(whole, sides[DIFF_HEAD], DIFF_HEAD, f));
		assert_scaled_alike(part, whole);
		assert_true(is_near(part->total.delta, self->delta));
		if (diff_state_is_difference(self->state)) {
			assert_int_equal(part->total.state, self->state);
			assert_true(is_near(part->total.ci_low, self->ci_low));
			proven++;
		}
	}
	assert_true(proven > 0);
	simulation_deinit(&s);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
}

static void a_part_that_one_side_lacks_is_new_or_gone(void **state)
{
	static const struct synthetic_change changes[SYNTHETIC_MOST_CHANGES] = { { "main;old", 1000, 1000 },
		{ "main;added", 0, 400 } };
	struct profile *sides[] = { synthetic_changes(changes, DIFF_BASE), synthetic_changes(changes, DIFF_HEAD) };
	CLEANUP(diff_cleanup) struct diff *whole = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	CLEANUP(diff_cleanup) struct diff *back = synthetic_diff(sides[DIFF_HEAD], sides[DIFF_BASE], NULL);
	uint32_t added = (uint32_t)(synthetic_function(whole, "added") - whole->functions);
	CLEANUP(diff_cleanup)
	struct diff *part = compare_parts(whole, only(whole, sides[DIFF_BASE], DIFF_BASE, added),
		only(whole, sides[DIFF_HEAD], DIFF_HEAD, added));
	struct diff *gone;

	assert_int_equal(part->total.state, DIFF_STATE_NEW);
	added = (uint32_t)(synthetic_function(back, "added") - back->functions);
	gone = compare_parts(
		back, only(back, sides[DIFF_HEAD], DIFF_BASE, added), only(back, sides[DIFF_BASE], DIFF_HEAD, added));
	assert_int_equal(gone->total.state, DIFF_STATE_GONE);
	diff_destroy(gone);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
}

/*
 * A part has lost what told functions apart in the whole: alone, its numbers would match others. Its functions are
 * those of the whole, and so is its group.
 */
static void a_part_has_the_functions_of_the_whole(void **state)
{
	struct profile *sides[] = {
		synthetic_profile("main;S.lambda$main$0;open 400\nmain;S.lambda$main$1;close 900\nmain;rest 5000\n"
				  "main;run.func1;work 100\nmain;run.func2;work 100\nmain;old.cold_name;x 300\n"),
		synthetic_profile("main;S.lambda$main$0;fresh 60\nmain;S.lambda$main$1;open 1200\n"
				  "main;S.lambda$main$2;close 900\nmain;rest 5000\n"
				  "main;run.func3;work 100\nmain;run.func4;work 100\nmain;new.cold_name;x 300\n"),
	};
	CLEANUP(diff_cleanup) struct diff *whole = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	CLEANUP(diff_cleanup)
	struct diff *part = compare_parts(whole,
		synthetic_profile("S.lambda$main$0 400\nS.lambda$main$1 900\nrun.func2 100\nold.cold_name 300\n"),
		synthetic_profile("S.lambda$main$0 60\nS.lambda$main$1 1200\nS.lambda$main$2 900\nrun.func3 100\n"
				  "new.cold_name 300\n"));
	static const char *const names[] = { "S.lambda$main$0", "S.lambda$main$1", "S.lambda$main$2",
		"run.func* (2 functions)", "new.cold_name" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct diff_function *f = synthetic_function(part, names[i]),
					   *of = synthetic_function(whole, names[i]);

		assert_string_equal(diff_tier_name(f->tier), diff_tier_name(of->tier));
		if (f->tier == DIFF_TIER_GROUP)
			continue;
		for (int side = 0; side < DIFF_SIDES; side++)
			assert_true(is_near(f->raw_total[side], of->raw_total[side]));
	}
	assert_int_equal(synthetic_function(part, names[0])->tier, DIFF_TIER_ONE_SIDED);
	assert_int_equal(synthetic_function(part, names[2])->tier, DIFF_TIER_RENUMBERED);
	assert_int_equal(part->member_count, 4);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_have_the_scale_and_the_times_of_the_whole),
		cmocka_unit_test(groups_of_runs_have_the_intervals_of_their_functions),
		cmocka_unit_test(a_single_function_is_judged_as_in_the_whole),
		cmocka_unit_test(a_part_that_one_side_lacks_is_new_or_gone),
		cmocka_unit_test(a_part_has_the_functions_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
