/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

enum { RUNS = 3, FUNCTIONS = 3 };

/* Runs whose sizes differ, in any metric: `sizes` are percent of `counts`, the samples of the functions a, b and c. */
static struct profile *uneven_runs(
	const char *metric, const char *unit, const int64_t counts[FUNCTIONS], const int64_t sizes[RUNS])
{
	static const char *const stacks[FUNCTIONS] = { "main;a", "main;b", "main;c" };
	struct synthetic s = { .thread = PROFILE_NONE };
	struct error err;

	assert_true(profile_create(&s.profile, &err));
	assert_true(profile_add_value_type(s.profile, metric, unit, &err));
	for (int run = 0; run < RUNS; run++) {
		synthetic_run(&s, true, 0);
		for (int f = 0; f < FUNCTIONS; f++)
			synthetic_add(&s, synthetic_stack(&s, stacks[f]), counts[f] * sizes[run] / 100, -1);
	}
	return synthetic_finish(&s);
}

static struct diff *compare(
	const char *metric, const char *unit, const int64_t base[FUNCTIONS], const int64_t head[FUNCTIONS])
{
	static const int64_t base_sizes[RUNS] = { 80, 100, 120 }, head_sizes[RUNS] = { 85, 95, 120 };
	struct diff_options options = { .metric = metric };

	return synthetic_compare(
		uneven_runs(metric, unit, base, base_sizes), uneven_runs(metric, unit, head, head_sizes), &options);
}

static const int64_t before[FUNCTIONS] = { 4000, 3000, 2000 }, less[FUNCTIONS] = { 3400, 2550, 1700 };

/* What all functions follow, and no function stands out from, is not divided out: nothing tells it from a change of the
 * program. */
static void what_all_functions_follow_is_not_divided_out(void **state)
{
	static const struct {
		const char *metric, *unit;
	} metrics[] = {
		{ "cpu", "nanoseconds" },
		{ "cycles", "count" },
		{ "page-faults", "count" },
		{ "instructions", "count" },
		{ "alloc_space", "bytes" },
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		CLEANUP(diff_cleanup) struct diff *diff = compare(metrics[i].metric, metrics[i].unit, before, less);

		assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_RUN);
		assert_float_equal(diff->scale.factor, 1, 1e-9);
	}
}

/* Twice as many in every run, which differ less than that. */
static void counts_that_doubled_are_a_regression(void **state)
{
	static const int64_t doubled[FUNCTIONS] = { 12000, 9000, 6000 };
	struct diff *diff = compare("page-faults", "count", before, doubled);

	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "3.00 times as many page-faults per run"));
	diff_destroy(diff);
	diff = compare("page-faults", "count", doubled, before);
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "66.7 % fewer page-faults per run"));
	diff_destroy(diff);
}

/* What to do next depends on what is in the way: too few samples, or what differs between processes anyway. */
static void the_next_step_fits_what_is_missing(void **state)
{
	static const struct {
		const char *lines, *step;
	} cases[] = { { "main;f 13\nmain;g 12\nmain;h 11\n", "so few samples" },
		{ "main;f 30000\nmain;g 20000\nmain;h 10000\n", "starts of an unchanged program" },
		{ "main;f 3\nmain;g 2\n", "so few samples" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = synthetic_profile(cases[i].lines);
		CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(profile, profile, NULL);

		assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
		assert_non_null(strstr(diff_string(diff, diff->verdict_text), cases[i].step));
	}
}

static bool holds_zero(const struct diff_estimate *e)
{
	return e->ci_low <= 0 && e->ci_high >= 0;
}

/* One function is proven, among others whose noise hides it in the whole. */
static void a_function_does_not_stand_for_the_whole(void **state)
{
	static const int64_t halved[FUNCTIONS] = { 4000, 3000, 0 };
	CLEANUP(diff_cleanup) struct diff *diff = compare("page-faults", "count", before, halved);

	assert_int_equal(diff->verdict, DIFF_IMPROVED);
	assert_true(holds_zero(&diff->total));
	assert_int_equal(diff->total.state, DIFF_STATE_UNPROVEN);
	assert_ptr_equal(
		strstr(diff_string(diff, diff->verdict_text), "`c` is gone, and had 22.2 % of all page-faults"),
		diff_string(diff, diff->verdict_text));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "; the total is not proven to have changed: "));
}

/* Whatever is called more or less has an interval without 0, small counts and heavy rows included. */
static void what_is_proven_has_an_interval_without_0(void **state)
{
	for (int64_t percent = 20; percent <= 300; percent += 5) {
		for (int64_t size = 8; size <= 8000; size *= 10) {
			const int64_t base[FUNCTIONS] = { size, size / 2, size / 4 },
				      head[FUNCTIONS] = { size * percent / 100, size / 2, size / 4 };
			CLEANUP(diff_cleanup) struct diff *diff = compare("page-faults", "count", base, head);

			if (diff_state_is_difference(diff->total.state))
				assert_false(holds_zero(&diff->total));
			for (size_t i = 0; i < diff->function_count; i++) {
				if (diff_state_is_difference(diff->functions[i].self.state))
					assert_false(holds_zero(&diff->functions[i].self));
				if (diff_state_is_difference(diff->functions[i].total.state))
					assert_false(holds_zero(&diff->functions[i].total));
			}
		}
	}
}

/* A hundred functions of 200 samples each, or of `count` and one of them of `last`. */
static struct profile *hundred(int count, int last)
{
	char lines[4096] = "";

	for (int i = 0; i < 100; i++)
		snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "main;f%d %d\n", i,
			i < 99 ? count : last);
	return synthetic_profile(lines);
}

/* The total's interval leaves out 0, but it is one of two questions, so that this proves nothing: the sentence says so.
 */
static void an_interval_without_0_that_proves_nothing_says_why(void **state)
{
	const struct diff_options options = { .scale = DIFF_SCALE_WORK, .work = { 1, 1 } };
	size_t doubts = 0;

	for (int more = 0; more <= 100; more += 5) {
		struct profile *base = hundred(200, 200), *head = hundred(200 + 2 * more, 200 + 2 * more);
		CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, &options);
		const char *text = diff_string(diff, diff->verdict_text);
		bool doubt = diff->total.state == DIFF_STATE_UNPROVEN && !holds_zero(&diff->total);

		assert_int_equal(doubt, strstr(text, "; just short of proof)") != NULL);
		doubts += doubt;
	}
	assert_true(doubts > 0);
}

static void equal_totals_take_as_much(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(profile_cleanup) struct profile *runs = synthetic_runs("main;a 4000\nmain;b 3000\n", 3);

	diff = synthetic_diff(runs, runs, NULL);
	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	assert_ptr_equal(
		strstr(diff_string(diff, diff->verdict_text), "equal within "), diff_string(diff, diff->verdict_text));
}

static void made_in_turn(struct profile *base, struct profile *head)
{
	for (size_t run = 0; run < base->run_count; run++) {
		base->runs[run].start_unix_ns = 1001 + (int64_t)run * 10;
		head->runs[run].start_unix_ns = 1002 + (int64_t)run * 10;
	}
}

/* All runs of base, and then all of head. */
static void made_one_after_the_other(struct profile *base, struct profile *head)
{
	for (size_t run = 0; run < base->run_count; run++) {
		base->runs[run].start_unix_ns = 1001 + (int64_t)run * 10;
		head->runs[run].start_unix_ns = 1000001 + (int64_t)run * 10;
	}
}

enum { MANY = 40 };

/* Many functions that never change, one that does, and one that has most of the faults, a little more or less from run
 * to run. */
static struct profile *many_functions(int64_t first, int64_t most)
{
	static const int64_t percent[RUNS] = { 96, 100, 104 };
	struct synthetic s = { .thread = PROFILE_NONE };
	struct error err;

	assert_true(profile_create(&s.profile, &err));
	assert_true(profile_add_value_type(s.profile, "page-faults", "count", &err));
	for (int run = 0; run < RUNS; run++) {
		synthetic_run(&s, true, 0);
		synthetic_add(&s, synthetic_stack(&s, "main;first"), first, -1);
		synthetic_add(&s, synthetic_stack(&s, "main;most"), most * percent[run] / 100, -1);
		for (int f = 0; f < MANY; f++) {
			char stack[32];

			snprintf(stack, sizeof(stack), "main;f%d", f);
			synthetic_add(&s, synthetic_stack(&s, stack), 30, -1);
		}
	}
	return synthetic_finish(&s);
}

/* One function takes more, and that is proven; the whole takes less, which falls just short of it. */
static void one_function_does_not_outvote_the_whole(void **state)
{
	struct diff_options options = { .metric = "page-faults" };
	size_t disagreed = 0;

	for (int64_t percent = 80; percent <= 100; percent++) {
		struct profile *base = many_functions(50, 10000), *head = many_functions(150, 100 * percent);
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		made_in_turn(base, head);
		diff = synthetic_compare(base, head, &options);
		assert_int_equal(synthetic_function(diff, "first")->self.state, DIFF_STATE_MORE);
		/* A point or two do not speak for the whole, and never against it. */
		assert_int_not_equal(diff->verdict, DIFF_REGRESSED);
		disagreed += diff->total.ci_high < 0 && diff->total.state == DIFF_STATE_UNPROVEN;
	}
	assert_true(disagreed > 0);
}

/* Runs of 300 samples each, ten a side, in turn, which differ by 1 % at most: as counts they would leave 5 % open. */
static void what_runs_agree_on_is_no_matter_of_counting(void **state)
{
	static const int64_t more[] = { 0, 12, 12 };
	struct profile *profiles[DIFF_SIDES];
	struct diff *diff;

	for (size_t i = 0; i < 3; i++) {
		bool in_turn = i < 2;

		for (int side = 0; side < DIFF_SIDES; side++) {
			struct synthetic s = synthetic_create();

			for (int run = 0; run < 10; run++) {
				synthetic_run(&s, true, 0);
				synthetic_add(&s, synthetic_stack(&s, "main;a"), 150 + run % 3 + side * more[i], -1);
				synthetic_add(&s, synthetic_stack(&s, "main;b"), 150 - run % 2, -1);
			}
			profiles[side] = synthetic_finish(&s);
		}
		if (in_turn)
			made_in_turn(profiles[DIFF_BASE], profiles[DIFF_HEAD]);
		else
			made_one_after_the_other(profiles[DIFF_BASE], profiles[DIFF_HEAD]);
		diff = synthetic_diff(profiles[DIFF_BASE], profiles[DIFF_HEAD], NULL);
		assert_int_equal(diff->verdict, !in_turn  ? DIFF_INCONCLUSIVE
						: more[i] ? DIFF_REGRESSED
							  : DIFF_UNCHANGED);
		assert_true(in_turn == (diff->total.ci_high - diff->total.ci_low < 0.02 * diff->total.base));
		assert_int_equal(synthetic_function(diff, "main")->total.state, diff->total.state);
		assert_true(synthetic_function(diff, "main")->total.ci_low == diff->total.ci_low);
		/* A function's time is counted all the same. */
		assert_true(synthetic_function(diff, "a")->self.ci_high - synthetic_function(diff, "a")->self.ci_low >
			    0.1 * diff->functions[0].total.base / 2);
		diff_destroy(diff);
		profile_destroy(profiles[DIFF_BASE]);
		profile_destroy(profiles[DIFF_HEAD]);
	}
}

static enum diff_verdict verdict_of(const char *base_lines, const char *head_lines)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(synthetic_runs(base_lines, 6), synthetic_runs(head_lines, 6), NULL);
	enum diff_verdict verdict = diff->verdict;

	return verdict;
}

/* Small changes never decide, and large ones in both directions are called what they are. */
static void changes_are_weighed_by_size_and_direction(void **state)
{
	static const char five[] = "main;a 4000\nmain;b 3000\nmain;c 2000\nmain;d 9000\nmain;e 8000\n";

	assert_int_equal(
		verdict_of(five, "main;a 6600\nmain;b 600\nmain;c 2000\nmain;d 9000\nmain;e 8000\n"), DIFF_MIXED);
	assert_int_equal(
		verdict_of(five, "main;a 4000\nmain;b 3000\nmain;c 2200\nmain;d 9000\nmain;e 7800\n"), DIFF_MINOR);
	assert_int_equal(
		verdict_of(five, "main;a 8000\nmain;b 3000\nmain;c 2000\nmain;d 9000\nmain;e 8000\n"), DIFF_REGRESSED);
	assert_int_equal(
		verdict_of(five, "main;a 1000\nmain;b 3000\nmain;c 2000\nmain;d 9000\nmain;e 8000\n"), DIFF_IMPROVED);
}

/* copy takes more below left in every run; its noise below right hides that, and the noise of rest hides it of left. */
static struct profile *one_place_changes(bool is_head)
{
	static const int64_t noise[2][RUNS] = { { 1000, 5000, 3000 }, { 5200, 2900, 1100 } };
	struct synthetic s = { .thread = PROFILE_NONE };
	struct error err;

	assert_true(profile_create(&s.profile, &err));
	assert_true(profile_add_value_type(s.profile, "cpu", "nanoseconds", &err));
	for (int run = 0; run < RUNS; run++) {
		synthetic_run(&s, true, 0);
		synthetic_add(&s, synthetic_stack(&s, "main;left;copy"), (is_head ? 1600 : 1000) + 2 * run, -1);
		synthetic_add(&s, synthetic_stack(&s, "main;left;rest"), noise[is_head][run], -1);
		synthetic_add(&s, synthetic_stack(&s, "main;right;copy"), noise[!is_head][run], -1);
	}
	return synthetic_finish(&s);
}

static void a_place_that_changed_is_told_where_no_function_is_proven(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(one_place_changes(false), one_place_changes(true), NULL);
	static const char start[] =
		"no function's change is proven, only that of places in the call tree (1 more); a change of more than ";

	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
	if (strncmp(diff_string(diff, diff->verdict_text), start, strlen(start)) != 0)
		fail_msg("%s", diff_string(diff, diff->verdict_text));
}

/* Two functions take more with all they call; what they call varies so that none of it is proven, nor is the whole. */
static struct profile *two_totals_change(int64_t first, int64_t second)
{
	enum { MANY_RUNS = 6 };
	static const int64_t noise[MANY_RUNS] = { 2000, -1800, 100, 1500, -1900, 900 },
			     whole[MANY_RUNS] = { 12000, 42000, 26000, 9000, 44000, 21000 };
	static const char *const others[] = { "main;a", "main;b", "main;c", "main;d", "main;e", "main;f" };
	struct synthetic s = { .thread = PROFILE_NONE };
	struct error err;

	assert_true(profile_create(&s.profile, &err));
	assert_true(profile_add_value_type(s.profile, "cpu", "nanoseconds", &err));
	for (int run = 0; run < MANY_RUNS; run++) {
		synthetic_run(&s, true, 0);
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			synthetic_add(&s, synthetic_stack(&s, others[i]), 4000 + 3 * run, -1);
		synthetic_add(&s, synthetic_stack(&s, "main;first;copy"), 3000 + noise[run], -1);
		synthetic_add(&s, synthetic_stack(&s, "main;first;rest"), first - noise[run] + 2 * run, -1);
		synthetic_add(&s, synthetic_stack(&s, "main;second;copy"), 3000 + noise[run], -1);
		synthetic_add(&s, synthetic_stack(&s, "main;second;rest"), second - noise[run] + 2 * run, -1);
		synthetic_add(&s, synthetic_stack(&s, "main;other;rest"), whole[run], -1);
	}
	return synthetic_finish(&s);
}

static void the_greatest_total_is_named_whatever_the_order(void **state)
{
	static const char *const names[] = { "`first`", "`second`" };

	for (int greatest = 0; greatest < 2; greatest++) {
		struct profile *base = two_totals_change(3000, 3000),
			       *head = two_totals_change(greatest == 0 ? 9000 : 7000, greatest == 0 ? 7000 : 9000);
		CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

		assert_int_equal(diff->total.state, DIFF_STATE_UNPROVEN);
		if (strstr(diff_string(diff, diff->verdict_text), names[greatest]) !=
			diff_string(diff, diff->verdict_text))
			fail_msg("%s", diff_string(diff, diff->verdict_text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_all_functions_follow_is_not_divided_out),
		cmocka_unit_test(counts_that_doubled_are_a_regression),
		cmocka_unit_test(the_next_step_fits_what_is_missing),
		cmocka_unit_test(a_function_does_not_stand_for_the_whole),
		cmocka_unit_test(one_function_does_not_outvote_the_whole),
		cmocka_unit_test(what_is_proven_has_an_interval_without_0),
		cmocka_unit_test(an_interval_without_0_that_proves_nothing_says_why),
		cmocka_unit_test(a_place_that_changed_is_told_where_no_function_is_proven),
		cmocka_unit_test(the_greatest_total_is_named_whatever_the_order),
		cmocka_unit_test(equal_totals_take_as_much),
		cmocka_unit_test(what_runs_agree_on_is_no_matter_of_counting),
		cmocka_unit_test(changes_are_weighed_by_size_and_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
