/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/neighbours.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `parse` is called by three functions; it calls itself by way of `value`, and is interrupted. */
static const struct synthetic_change changes[SYNTHETIC_MOST_CHANGES] = {
	{ "main;load;parse;scan", 2000, 2000 },
	{ "main;serve;parse;scan", 2000, 4000 },
	{ "main;serve;parse;value;parse;number", 1000, 1000 },
	{ "main;parse", 500, 500 },
	{ "main;load;parse;asm_common_interrupt!kernel;tick!kernel", 300, 300 },
	{ "main;write;flush", 8000, 8000 },
	{ NULL, 0, 0 },
};

static const double ms = SYNTHETIC_SAMPLE_NS;

struct compared {
	struct profile *profiles[DIFF_SIDES];
	struct diff *diff;
	struct diff_neighbours *neighbours;
};

static void compared_deinit(struct compared *c)
{
	diff_neighbours_destroy(c->neighbours);
	diff_destroy(c->diff);
	profile_destroy(c->profiles[DIFF_BASE]);
	profile_destroy(c->profiles[DIFF_HEAD]);
}

static void ask(struct compared *c, const char *name)
{
	bool *meant = calloc(c->diff->function_count, sizeof(*meant));
	struct error err;

	assert_non_null(meant);
	meant[synthetic_function(c->diff, name) - c->diff->functions] = true;
	if (!diff_neighbours_create(c->diff, (const struct profile *const *)c->profiles, meant, &c->neighbours, &err))
		fail_msg("%s", err.message);
	free(meant);
}

static struct compared compare(const char *name)
{
	struct compared c = { .profiles = {
				      synthetic_changes(changes, DIFF_BASE), synthetic_changes(changes, DIFF_HEAD) } };

	c.diff = synthetic_diff(c.profiles[DIFF_BASE], c.profiles[DIFF_HEAD], NULL);
	ask(&c, name);
	return c;
}

/* The row of a function; NULL for none. `name` NULL: that of no function. */
static const struct diff_neighbour *row(
	const struct compared *c, const struct diff_neighbour_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		uint32_t function = list->rows[i].function;

		if (function == PROFILE_NONE
				? name == NULL
				: name && strcmp(diff_string(c->diff, c->diff->functions[function].name), name) == 0)
			return &list->rows[i];
	}
	return NULL;
}

static double sum(const struct diff_neighbour_list *list, enum diff_side side)
{
	double all = 0;

	for (size_t i = 0; i < list->count; i++)
		all += list->rows[i].raw[side];
	return all;
}

static void callers_and_callees_add_up_to_the_total(void **state)
{
	CLEANUP(compared_deinit) struct compared c = compare("parse");
	const struct diff_function *parse = synthetic_function(c.diff, "parse");

	for (int side = 0; side < DIFF_SIDES; side++) {
		assert_true(sum(&c.neighbours->callers, (enum diff_side)side) == parse->raw_total[side]);
		assert_true(sum(&c.neighbours->callees, (enum diff_side)side) == parse->raw_total[side]);
	}
	assert_int_equal(c.neighbours->callers.count, 3);
	assert_int_equal(c.neighbours->callees.count, 3);
	/* Each stack once: for the outermost frame, and for the innermost one. */
	assert_null(row(&c, &c.neighbours->callers, "value"));
	assert_null(row(&c, &c.neighbours->callees, "value"));
	assert_null(row(&c, &c.neighbours->callees, "tick"));
	assert_true(row(&c, &c.neighbours->callees, NULL)->raw[DIFF_BASE] == parse->raw_self[DIFF_BASE]);
	assert_true(fabs(c.neighbours->base - parse->total.base) < ms);
	assert_string_equal(
		diff_string(c.diff, c.diff->functions[c.neighbours->callers.rows[0].function].name), "serve");
}

static void each_row_has_its_own_verdict(void **state)
{
	CLEANUP(compared_deinit) struct compared c = compare("parse");

	assert_int_equal(row(&c, &c.neighbours->callers, "serve")->time.state, DIFF_STATE_MORE);
	assert_false(diff_state_is_difference(row(&c, &c.neighbours->callers, "load")->time.state));
	assert_int_equal(row(&c, &c.neighbours->callees, "scan")->time.state, DIFF_STATE_MORE);
	assert_false(diff_state_is_difference(row(&c, &c.neighbours->callees, "number")->time.state));
	assert_false(diff_state_is_difference(row(&c, &c.neighbours->callees, NULL)->time.state));
}

static void what_no_function_calls_begins_a_thread(void **state)
{
	CLEANUP(compared_deinit) struct compared c = compare("main");

	assert_int_equal(c.neighbours->callers.count, 1);
	assert_int_equal(c.neighbours->callers.rows[0].function, PROFILE_NONE);
	assert_null(row(&c, &c.neighbours->callees, NULL));
}

static void one_profile_has_figures_alone(void **state)
{
	struct compared c = { .profiles = { NULL, synthetic_changes(changes, DIFF_HEAD) } };
	struct error err;

	if (!diff_create_single(c.profiles[DIFF_HEAD], NULL, &c.diff, &err))
		fail_msg("%s", err.message);
	ask(&c, "parse");
	assert_true(
		sum(&c.neighbours->callers, DIFF_HEAD) == synthetic_function(c.diff, "parse")->raw_total[DIFF_HEAD]);
	assert_true(sum(&c.neighbours->callers, DIFF_BASE) == 0);
	compared_deinit(&c);
}

static void of_no_function_there_is_nothing(void **state)
{
	CLEANUP(compared_deinit) struct compared c = { .profiles = { NULL, synthetic_changes(changes, DIFF_HEAD) } };
	bool *meant;
	struct error err;

	if (!diff_create_single(c.profiles[DIFF_HEAD], NULL, &c.diff, &err))
		fail_msg("%s", err.message);
	meant = calloc(c.diff->function_count, sizeof(*meant));
	assert_non_null(meant);
	/* None is meant: there is nothing to group. */
	if (!diff_neighbours_create(c.diff, (const struct profile *const *)c.profiles, meant, &c.neighbours, &err))
		fail_msg("%s", err.message);
	assert_int_equal(c.neighbours->callers.count + c.neighbours->callees.count, 0);
	free(meant);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_and_callees_add_up_to_the_total),
		cmocka_unit_test(each_row_has_its_own_verdict),
		cmocka_unit_test(what_no_function_calls_begins_a_thread),
		cmocka_unit_test(one_profile_has_figures_alone),
		cmocka_unit_test(of_no_function_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
