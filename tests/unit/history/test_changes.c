/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories whose truth is known: what is found, where, and how often something is found where nothing is. */
#include "tests/unit/history/series_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORIES = 60 };

static const struct fixture ordinary = {
	.profiles = 20, .functions = 60, .samples = 5000, .rsd = 0.05, .load_spread = 3
};

struct tally {
	size_t found;    /* histories in which the first effect was found within a profile */
	size_t went;     /* ... and was found to have come and gone */
	size_t wrong;    /* histories with any other change of a function */
	size_t drifting; /* histories in which the function was found to drift */
};

static bool is_meant(
	const struct fixture *fixture, const struct history_series *series, const struct history_change *change)
{
	long distance = (long)series->points[change->point].at - (long)fixture->effects[0].from;

	return fixture->effect_count > 0 && labs(distance) <= 1 &&
	       (change->function == fixture->effects[0].function || change->function == HISTORY_WHOLE);
}

static void count_one(const struct fixture *fixture, struct tally *tally)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = fixture_set(fixture);
	CLEANUP(history_cleanup) struct history *history = fixture_history(set);
	const struct history_series *series = &history->series[0];
	bool found = false, went = false, wrong = false;

	assert_int_equal(history->series_count, 1);
	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];

		if (!is_meant(fixture, series, change)) {
			wrong = true;
		} else if (change->function != HISTORY_WHOLE) {
			found = true;
			went = change->went != SIZE_MAX;
			assert_true(change->ci_low <= change->delta && change->delta <= change->ci_high);
		}
	}
	tally->found += found;
	tally->went += went;
	tally->wrong += wrong;
	for (size_t i = 0; fixture->effect_count && i < series->drift_count; i++)
		tally->drifting += series->drifts[i].function == fixture->effects[0].function;
}

static struct tally tally_of(struct fixture fixture)
{
	struct tally tally = { 0 };

	for (fixture.seed = 1; fixture.seed <= HISTORIES; fixture.seed++)
		count_one(&fixture, &tally);
	return tally;
}

/* One in twenty, with what 60 histories may have by chance beyond that. */
static void assert_few(size_t wrong)
{
	assert_in_range(wrong, 0, HISTORIES / 20 + 3);
}

static void nothing_is_found_where_nothing_changed(void **state)
{
	struct fixture fixture = ordinary;

	assert_few(tally_of(fixture).wrong);
	fixture.profiles = 12;
	assert_few(tally_of(fixture).wrong);
	fixture.profiles = 40;
	assert_few(tally_of(fixture).wrong);
	fixture = ordinary;
	fixture.rsd = 0.2;
	assert_few(tally_of(fixture).wrong);
	fixture = ordinary;
	fixture.samples = 300;
	assert_few(tally_of(fixture).wrong);
	fixture = ordinary;
	fixture.counts_requests = true;
	assert_few(tally_of(fixture).wrong);
}

static void deploys_that_change_nothing_are_no_changes(void **state)
{
	struct fixture fixture = ordinary;

	fixture.knows_version = true;
	for (fixture.deploy_every = 1; fixture.deploy_every <= 10; fixture.deploy_every *= 3)
		assert_few(tally_of(fixture).wrong);
	fixture.deploy_every = 1;
	for (fixture.profiles = 2; fixture.profiles <= 4; fixture.profiles++)
		assert_few(tally_of(fixture).wrong);
}

/* What each function varies by lasts for a while: profiles say less than their number, which the model does not know.
 */
static void noise_that_lasts_is_seldom_a_change(void **state)
{
	struct fixture fixture = ordinary;

	fixture.correlation = 0.3;
	assert_in_range(tally_of(fixture).wrong, 0, HISTORIES / 6);
}

static void a_change_is_found_where_it_is(void **state)
{
	struct fixture fixture = ordinary;
	struct tally tally;

	fixture.effect_count = 1;
	fixture.effects[0] = (struct fixture_effect){ .function = 4, .from = 10, .factor = 1.5 };
	tally = tally_of(fixture);
	assert_in_range(tally.found, HISTORIES * 95 / 100, HISTORIES);
	assert_int_equal(tally.went, 0);
	assert_few(tally.wrong);
	/* Where the deploy is known, less is enough. */
	fixture.knows_version = true;
	fixture.effects[0].factor = 1.25;
	assert_in_range(tally_of(fixture).found, HISTORIES * 95 / 100, HISTORIES);
	/* One profile behind it, against all before. */
	fixture.effects[0] = (struct fixture_effect){ .function = 4, .from = 19, .factor = 1.6 };
	assert_in_range(tally_of(fixture).found, HISTORIES * 95 / 100, HISTORIES);
}

/* Also where few profiles have it, or few do not: a search for three on each side would find another one. */
static void the_moment_is_the_first_changed_profile(void **state)
{
	static const size_t moments[] = { 2, 5, 8, 9 };
	struct fixture fixture = { .profiles = 10, .functions = 12, .samples = 8000, .rsd = 0.02, .load_spread = 1.2 };

	fixture.effect_count = 1;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		fixture.seed = i + 1;
		fixture.effects[0] = (struct fixture_effect){ .function = 3, .from = moments[i], .factor = 4 };
		CLEANUP(summary_set_cleanup) struct summary_set *set = fixture_set(&fixture);
		CLEANUP(history_cleanup) struct history *history = fixture_history(set);
		const struct history_series *series = &history->series[0];

		assert_int_equal(series->change_count, 1);
		assert_int_equal(series->changes[0].function, 3);
		assert_int_equal(series->points[series->changes[0].point].at, moments[i]);
		assert_true(series->changes[0].went == SIZE_MAX);
	}
}

/* All profiles of a process share what its start decided. */
static void another_start_is_no_change(void **state)
{
	struct fixture fixture = ordinary;

	fixture.rsd = 0.15;
	for (fixture.of_start = 2; fixture.of_start <= 10; fixture.of_start += 4)
		assert_few(tally_of(fixture).wrong);
}

static void a_function_may_come_and_go(void **state)
{
	struct fixture fixture = ordinary;
	struct tally tally;

	fixture.effect_count = 1;
	fixture.effects[0] = (struct fixture_effect){ .function = 4, .from = 8, .to = 12, .factor = 2.5 };
	tally = tally_of(fixture);
	assert_in_range(tally.found, HISTORIES * 3 / 4, HISTORIES);
	assert_in_range(tally.went, tally.found * 9 / 10, tally.found);
	fixture.effects[0] = (struct fixture_effect){ .function = 4, .from = 10, .factor = 0 };
	assert_int_equal(tally_of(fixture).found, HISTORIES);
}

static void a_slope_is_no_step(void **state)
{
	struct fixture fixture = ordinary;
	struct tally tally;

	fixture.effect_count = 1;
	fixture.effects[0] = (struct fixture_effect){ .function = 4, .from = 0, .slope = 0.05 };
	tally = tally_of(fixture);
	assert_in_range(tally.drifting, HISTORIES * 3 / 4, HISTORIES);
	assert_in_range(tally.found + tally.wrong, 0, HISTORIES / 20);
}

static void the_total_is_tested_where_requests_were_counted(void **state)
{
	struct fixture fixture = ordinary;

	fixture.counts_requests = fixture.knows_version = true;
	fixture.effect_count = 1;
	fixture.effects[0] = (struct fixture_effect){ .function = 0, .from = 10, .factor = 1.5 };
	/* At another load the total may cost anything. */
	fixture.load_spread = 1;
	fixture.seed = 1;
	CLEANUP(summary_set_cleanup) struct summary_set *set = fixture_set(&fixture);
	CLEANUP(history_cleanup) struct history *history = fixture_history(set);
	const struct history_series *series = &history->series[0];

	assert_int_equal(series->scale, DIFF_SCALE_PER_REQUEST);
	assert_in_range(series->change_count, 2, 3);
	assert_true(series->changes[0].function == HISTORY_WHOLE);
	assert_int_equal(series->changes[0].of, 10);
	assert_int_equal(series->changes[0].agree, 10);
	assert_int_equal(series->changes[1].function, 0);
	assert_int_equal(series->changes[1].code, HISTORY_CODE_CHANGED);
	assert_true(series->points[series->changes[0].point].is_deploy);
	assert_string_equal(history_string(history, series->points[series->changes[0].point].fact), "version 1 → 2");
}

static void memory_may_run_out(void **state)
{
	struct fixture fixture = ordinary;
	struct history *history = NULL;
	struct error err;

	fixture.profiles = 9;
	fixture.functions = 8;
	fixture.counts_requests = fixture.knows_version = true;
	fixture.effect_count = 1;
	fixture.effects[0] = (struct fixture_effect){ .function = 1, .from = 4, .factor = 2 };
	fixture.seed = 1;
	CLEANUP(summary_set_cleanup) struct summary_set *set = fixture_set(&fixture);
	while (failing_malloc_in_child())
		failing_malloc_end(history_create(set, NULL, &history, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_where_nothing_changed),
		cmocka_unit_test(deploys_that_change_nothing_are_no_changes),
		cmocka_unit_test(noise_that_lasts_is_seldom_a_change),
		cmocka_unit_test(a_change_is_found_where_it_is),
		cmocka_unit_test(the_moment_is_the_first_changed_profile),
		cmocka_unit_test(another_start_is_no_change),
		cmocka_unit_test(a_function_may_come_and_go),
		cmocka_unit_test(a_slope_is_no_step),
		cmocka_unit_test(the_total_is_tested_where_requests_were_counted),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
