/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/groups.h"
#include "simulation_fixture.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <string.h>

static const struct profile_where by_function = { .key = PROFILE_SELECT_FUNCTION },
				  by_module = { .key = PROFILE_SELECT_MODULE },
				  by_route = { .key = PROFILE_SELECT_LABEL, .label = "route" };

static struct diff_groups *grouped(
	const struct diff *diff, struct profile *const sides[DIFF_SIDES], const struct profile_where *key)
{
	const struct profile *profiles[DIFF_SIDES] = { sides[DIFF_BASE], sides[DIFF_HEAD] };
	struct diff_groups *groups;
	struct error err;

	must(diff_groups_create(diff, profiles, key, NULL, &groups, &err), &err);
	return groups;
}

static const struct diff_group *group_named(const struct diff_groups *groups, const char *value)
{
	for (size_t i = 0; i < groups->count; i++)
		if (strcmp(diff_group_value(groups, &groups->items[i]), value) == 0)
			return &groups->items[i];
	return NULL;
}

static bool is_near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

/* In one recording on each side floors decide, and functions whose code changed have another one. */
static void groups_of_one_function_have_its_verdict(void **state)
{
	size_t proven = 0, alike = 0, tested = 0;

	for (unsigned long seed = 0; seed < 8; seed++) {
		struct simulation s = simulation_create(seed, 30, 0.1);
		struct simulated_change change = { .function = 0, .times = 2.5, .other_code = seed % 2 };
		bool runs = seed % 4 >= 2;
		struct profile *sides[] = { runs ? simulation_runs(&s, 5, 20000, NULL)
						 : simulation_attached(&s, 8, 20000, NULL),
			runs ? simulation_runs(&s, 4, 16000, &change) : simulation_attached(&s, 8, 20000, &change) };
		CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
		CLEANUP(diff_groups_cleanup) struct diff_groups *groups = grouped(diff, sides, &by_function);

		for (size_t i = 0; i < diff->function_count; i++) {
			const struct diff_function *f = &diff->functions[i];
			const struct diff_group *group = group_named(groups, diff_string(diff, f->shown));

			if (!group || isnan(f->self.q))
				continue;
			tested++;
			assert_true(is_near(group->time.base, f->self.base));
			assert_true(is_near(group->time.delta, f->self.delta));
			if (group->time.state != f->self.state)
				continue;
			assert_true(is_near(group->time.ci_low, f->self.ci_low));
			assert_true(is_near(group->time.ci_high, f->self.ci_high));
			proven += diff_state_is_difference(f->self.state);
			alike++;
		}
		simulation_deinit(&s);
		profile_destroy(sides[DIFF_BASE]);
		profile_destroy(sides[DIFF_HEAD]);
	}
	/* Families differ by the rows of callers, which groups have none of. */
	assert_true(proven >= 4);
	assert_true((double)alike >= 0.97 * (double)tested);
}

static size_t flagged(const struct diff_groups *groups)
{
	size_t count = 0;

	for (size_t i = 0; i < groups->count; i++)
		count += diff_state_is_difference(groups->items[i].time.state);
	return count;
}

static void groups_of_unchanged_programs_are_proven_at_the_rate(void **state)
{
	size_t pairs = simulation_pairs(60), false_pairs = 0;

	for (unsigned long seed = 0; seed < pairs; seed++) {
		struct simulation s = simulation_create(1000 + seed, 30, 0.1);
		bool runs = seed % 2;
		struct profile *sides[] = { runs ? simulation_runs(&s, 5, 5000, NULL)
						 : simulation_attached(&s, 6, 5000, NULL),
			runs ? simulation_runs(&s, 5, 5000, NULL) : simulation_attached(&s, 6, 5000, NULL) };
		CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
		CLEANUP(diff_groups_cleanup) struct diff_groups *functions = grouped(diff, sides, &by_function);
		CLEANUP(diff_groups_cleanup) struct diff_groups *modules = grouped(diff, sides, &by_module);

		false_pairs += flagged(functions) > 0 || flagged(modules) > 0;
		simulation_deinit(&s);
		profile_destroy(sides[DIFF_BASE]);
		profile_destroy(sides[DIFF_HEAD]);
	}
	/* Of two families at 0.05 each; 3 standard deviations of 60 pairs. */
	assert_true((double)false_pairs <= (double)pairs * 0.1 + 3 * sqrt((double)pairs * 0.1 * 0.9));
}

/* ---- Labels ---- */

static void take_route(struct synthetic *s, const char *route)
{
	struct profile_thread thread = s->profile->threads[s->thread];
	struct profile_label label = { profile_id(s->profile, "route"), profile_id(s->profile, route ? route : "") };
	struct error err;

	thread.labels = 0;
	must(!route || profile_make_label_set(s->profile, &label, 1, &thread.labels, &err), &err);
	must(profile_add_thread(s->profile, &thread, &s->thread, &err), &err);
}

/* Five runs of a server: /upload takes `upload` samples in each, with one function below two routes. */
static struct profile *server(int upload, const char *added)
{
	struct synthetic s = synthetic_create();

	for (int run = 0; run < 5; run++) {
		synthetic_run(&s, true, 1000);
		synthetic_add(&s, synthetic_stack(&s, "main;idle"), 300 + run, -1);
		take_route(&s, "/upload");
		synthetic_add(&s, synthetic_stack(&s, "main;serve;parse"), upload + run, -1);
		take_route(&s, "/list");
		synthetic_add(&s, synthetic_stack(&s, "main;serve;parse"), 700 - run, -1);
		if (added) {
			take_route(&s, added);
			synthetic_add(&s, synthetic_stack(&s, "main;serve;render"), 200 + run, -1);
		}
	}
	return synthetic_finish(&s);
}

static void a_route_has_a_verdict_of_its_own(void **state)
{
	struct profile *sides[] = { server(400, NULL), server(600, "/new") };
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	CLEANUP(diff_groups_cleanup) struct diff_groups *groups = grouped(diff, sides, &by_route);
	const struct diff_group *upload = group_named(groups, "/upload"), *list = group_named(groups, "/list"),
				*added = group_named(groups, "/new"), *none = group_named(groups, DIFF_NO_VALUE);

	assert_int_equal(groups->count, 4);
	assert_string_equal(groups->key, "route");
	assert_int_equal(upload->time.state, DIFF_STATE_MORE);
	assert_int_equal(added->time.state, DIFF_STATE_NEW);
	assert_int_equal(list->time.state, DIFF_STATE_SAME);
	assert_int_equal(none->time.state, DIFF_STATE_SAME);
	assert_true(upload->samples[DIFF_BASE] == 5 * 400 + 10 && upload->samples[DIFF_HEAD] == 5 * 600 + 10);
	assert_int_equal(upload->top_count, 1);
	assert_string_equal(diff_string(diff, diff->functions[upload->top[0]].name), "parse");
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
}

static void conditions_choose_the_samples_of_a_group(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = server(400, NULL);
	const struct profile_where where = { PROFILE_SELECT_LABEL, "route", "/upload" };
	const struct profile_selection selection = { .where = &where, .where_count = 1 };
	CLEANUP(profile_cleanup) struct profile *selected = NULL;
	int64_t count = 0;
	struct error err;

	must(profile_select(p, &selection, &selected, &err), &err);
	for (size_t i = 0; i < selected->sample_count; i++)
		count += selected->values[i * selected->value_type_count];
	assert_int_equal(count, 5 * 400 + 10);
	assert_int_equal(selected->run_count, p->run_count);
}

static void a_key_or_a_value_that_is_not_there_is_refused(void **state)
{
	struct profile *sides[] = { server(400, NULL), server(400, NULL) };
	const struct profile *profiles[DIFF_SIDES] = { sides[DIFF_BASE], sides[DIFF_HEAD] };
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	const struct profile_where tenant = { PROFILE_SELECT_LABEL, "tenant", "a" },
				   route = { PROFILE_SELECT_LABEL, "route", "/no" };
	const struct profile_selection selection = { .where = &route, .where_count = 1 };
	struct profile *selected;
	struct diff_groups *groups;
	struct error err;

	assert_false(diff_groups_create(diff, profiles, &tenant, NULL, &groups, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "--by tenant: no sample has it; there are: function, module"));
	assert_non_null(strstr(err.message, "route"));
	assert_false(profile_select(profiles[DIFF_BASE], &selection, &selected, &err));
	assert_non_null(strstr(err.message, "there are: /upload, /list"));
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
}

static void one_side_has_groups_without_verdicts(void **state)
{
	struct profile *sides[] = { NULL, server(400, NULL) };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(diff_groups_cleanup) struct diff_groups *groups = NULL;
	struct error err;

	must(diff_create_single(sides[DIFF_HEAD], NULL, &diff, &err), &err);
	groups = grouped(diff, sides, &by_route);
	assert_string_equal(diff_group_value(groups, &groups->items[0]), "/list");
	assert_true(isnan(groups->items[0].time.q));
	profile_destroy(sides[DIFF_HEAD]);
}

static void without_memory_the_process_ends(void **state)
{
	struct profile *sides[] = { server(400, NULL), server(600, "/new") };
	const struct profile *profiles[DIFF_SIDES] = { sides[DIFF_BASE], sides[DIFF_HEAD] };
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(sides[DIFF_BASE], sides[DIFF_HEAD], NULL);
	const struct profile_where *const keys[] = { &by_route, &by_module };
	struct diff_groups *groups;
	struct error err;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		while (failing_malloc_in_child())
			failing_malloc_end(diff_groups_create(diff, profiles, keys[k], NULL, &groups, &err), &err);
	profile_destroy(sides[DIFF_BASE]);
	profile_destroy(sides[DIFF_HEAD]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_one_function_have_its_verdict),
		cmocka_unit_test(groups_of_unchanged_programs_are_proven_at_the_rate),
		cmocka_unit_test(a_route_has_a_verdict_of_its_own),
		cmocka_unit_test(conditions_choose_the_samples_of_a_group),
		cmocka_unit_test(a_key_or_a_value_that_is_not_there_is_refused),
		cmocka_unit_test(one_side_has_groups_without_verdicts),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
