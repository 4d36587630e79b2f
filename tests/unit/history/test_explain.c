/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"
#include "tests/unit/diff/synthetic_fixture.h"
#include "tests/unit/support/profile.h"

#include <string.h>

/* `parse` is slower, with all that calls it; `tidy` is another chain. */
static const struct synthetic_change changes[SYNTHETIC_MOST_CHANGES] = {
	{ "main;serve;parse", 2000, 4000 },
	{ "main;tidy", 1000, 2500 },
	{ "main;rest", 20000, 20000 },
	{ NULL, 0, 0 },
};

enum { SERVE, PARSE, TIDY, OTHER, CHANGES };

struct explained_history {
	struct summary_set *set;
	struct history history;
	struct history_series series;
	struct history_point point;
	struct history_change changes[CHANGES];
};

static uint32_t function_of(const struct summary_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->function_count; i++)
		if (strcmp(summary_string(set, set->functions[i].name), name) == 0)
			return i;
	fail_msg("no function %s", name);
	return 0;
}

static void explained_init(struct explained_history *e, const struct profile *profile)
{
	static const char *const names[CHANGES] = { "serve", "parse", "tidy", "rest" };
	static const double deltas[CHANGES] = { 9, 8, 5, 3 };
	struct error err;

	*e = (struct explained_history){ 0 };
	must(summary_set_create(&e->set, &err) &&
			history_summarize(e->set, profile, &(struct summary_options){ 0 }, &err),
		&err);
	for (size_t i = 0; i < CHANGES; i++)
		e->changes[i] = (struct history_change){
			.function = function_of(e->set, names[i]), .went = SIZE_MAX, .delta = deltas[i]
		};
	e->series = (struct history_series){
		.points = &e->point, .point_count = 1, .changes = e->changes, .change_count = CHANGES
	};
	e->history = (struct history){ .set = e->set, .series = &e->series, .series_count = 1 };
}

static void functions_of_a_chain_are_listed_once(void **state)
{
	struct profile *base = synthetic_changes(changes, DIFF_BASE), *head = synthetic_changes(changes, DIFF_HEAD);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, NULL);
	const struct history_pair pair = { 0 };
	struct explained_history e;
	struct error err;

	explained_init(&e, head);
	must(history_explain(&e.history, &pair, diff, &err), &err);
	/* `parse` is what the diff names; what no change of the diff has stays. */
	assert_int_equal(e.series.change_count, 3);
	assert_string_equal(summary_string(e.set, e.set->functions[e.changes[0].function].name), "parse");
	assert_string_equal(summary_string(e.set, e.set->functions[e.changes[1].function].name), "tidy");
	assert_string_equal(summary_string(e.set, e.set->functions[e.changes[2].function].name), "rest");
	summary_set_destroy(e.set);
	profile_destroy(base);
	profile_destroy(head);
}

static void what_goes_another_way_is_a_change_of_its_own(void **state)
{
	struct profile *base = synthetic_changes(changes, DIFF_BASE), *head = synthetic_changes(changes, DIFF_HEAD);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, NULL);
	const struct history_pair pair = { 0 };
	struct explained_history e;
	struct error err;

	explained_init(&e, head);
	e.changes[SERVE].delta = -9;
	must(history_explain(&e.history, &pair, diff, &err), &err);
	assert_int_equal(e.series.change_count, CHANGES);
	summary_set_destroy(e.set);
	profile_destroy(base);
	profile_destroy(head);
}

static void damaged_findings_change_nothing(void **state)
{
	struct profile *base = synthetic_changes(changes, DIFF_BASE), *head = synthetic_changes(changes, DIFF_HEAD);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, NULL);
	CLEANUP(buffer_deinit) struct buffer found = { 0 };
	const struct history_pair pair = { 0 };
	struct explained_history e;
	struct error err;

	buffer_init(&found, 1 << 20);
	must(history_find(diff, &found, &err), &err);
	explained_init(&e, head);
	for (size_t size = 0; size < found.size; size++) {
		assert_false(history_apply(&e.history, &pair, found.data, size, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_int_equal(e.series.change_count, CHANGES);
	}
	summary_set_destroy(e.set);
	profile_destroy(base);
	profile_destroy(head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_a_chain_are_listed_once),
		cmocka_unit_test(what_goes_another_way_is_a_change_of_its_own),
		cmocka_unit_test(damaged_findings_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
