/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct diff *diff_in_mode(const struct profile *base, const struct profile *head, enum diff_scale_mode mode)
{
	struct diff_options options = { .scale = mode, .work = { 100, 150 } };

	return synthetic_diff(base, head, &options);
}

static bool is_flag(enum diff_state state)
{
	return state == DIFF_STATE_MORE || state == DIFF_STATE_LESS || state == DIFF_STATE_NEW ||
	       state == DIFF_STATE_GONE;
}

static const char four[] = "main;a 4000\nmain;b 3000\nmain;c 2000\nmain;d 1000\n";
static const char four_one_doubled[] = "main;a 8000\nmain;b 3000\nmain;c 2000\nmain;d 1000\n";
static const char four_all_doubled[] = "main;a 8000\nmain;b 6000\nmain;c 4000\nmain;d 2000\n";

static void one_doubled_function_turns_no_other_blue(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_runs(four, 3), *head = synthetic_runs(four_one_doubled, 3);

	for (enum diff_scale_mode mode = DIFF_SCALE_AUTO; mode <= DIFF_SCALE_ROBUST; mode++) {
		CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, mode);

		assert_float_equal(diff->scale.factor, 1, 1e-3);
		assert_int_equal(synthetic_function(diff, "a")->self.state, DIFF_STATE_MORE);
		assert_int_equal(synthetic_function(diff, "b")->self.state, DIFF_STATE_SAME);
		assert_int_equal(synthetic_function(diff, "c")->total.state, DIFF_STATE_SAME);
		assert_int_equal(diff->verdict, DIFF_REGRESSED);
		assert_false(diff->scale.load_is_unknown);
	}
}

/* Four times the runs are no load, as long as each took as much. */
static void more_runs_are_no_load(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_runs(four, 3), *head = synthetic_runs(four, 12),
		       *doubled = synthetic_runs(four_all_doubled, 12);
	CLEANUP(diff_cleanup)
	struct diff *same = diff_in_mode(base, head, DIFF_SCALE_ROBUST),
		    *more = diff_in_mode(base, doubled, DIFF_SCALE_ROBUST);

	assert_float_equal(same->scale.factor, 0.25, 1e-9);
	assert_string_equal(
		diff_string(same, same->scale_text), "head is multiplied by 0.250 to compare both sides at equal load");
	assert_non_null(strstr(diff_string(more, more->scale_text),
		"the typical function took 2.00 times as much CPU time per run in head (95 % interval "));
}

/* One function's own change is no load: the sentence says what the factor rests on. */
static void a_factor_of_few_functions_is_said(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_profile("main;a 400\n"), *head = synthetic_profile("main;a 800\n");
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_ROBUST);

	assert_non_null(
		strstr(diff_string(diff, diff->scale_text), "the few functions with enough samples took 2.00 times"));
}

static bool any_flag(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (is_flag(diff->functions[i].self.state) || is_flag(diff->functions[i].total.state))
			return true;
	return is_flag(diff->total.state);
}

/* Where nobody counted requests, all may be load; what grew beyond that is proven all the same. */
static void an_unknown_load_flags_what_it_cannot_explain(void **state)
{
	static const struct {
		const char *head, *more;
	} cases[] = { { four_all_doubled, NULL }, { "main;a 2000\nmain;b 1500\nmain;c 1000\nmain;d 500\n", NULL },
		{ "main;a 4000\nmain;b 3000\nmain;c 2000\nmain;d 12000\n", "d" },
		{ "main;a 1600\nmain;b 1200\nmain;c 800\nmain;d 6000\n", "d" },
		{ "main;a 4000\nmain;b 3000\nmain;c 2000\nmain;d 1000\nmain;e 9000\n", "e" } };
	CLEANUP(profile_cleanup) struct profile *base = synthetic_profile(four);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *head = synthetic_profile(cases[i].head);
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		base->runs[0].duration_ns = head->runs[0].duration_ns = 1000000000;
		diff = diff_in_mode(base, head, DIFF_SCALE_AUTO);
		assert_true(diff->scale.load_is_unknown);
		assert_float_equal(diff->scale.factor, 1, 1e-9);
		if (!cases[i].more)
			assert_false(any_flag(diff));
		for (size_t f = 0; cases[i].more && f < diff->function_count; f++) {
			const char *name = diff_string(diff, diff->functions[f].name);

			assert_true(strcmp(name, "main") == 0 ||
				    is_flag(diff->functions[f].self.state) == (strcmp(name, cases[i].more) == 0));
		}
	}
}

static void twice_the_traffic_flags_nothing(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_profile(four), *head = synthetic_profile(four_all_doubled);
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_ROBUST);

	assert_float_equal(diff->scale.factor, 0.5, 1e-9);
	assert_non_null(strstr(diff_string(diff, diff->scale_text), "we assume that head had 2.00 times the load"));
	assert_false(diff->scale.load_is_unknown);
	for (size_t i = 0; i < diff->function_count; i++)
		assert_int_equal(diff->functions[i].total.state, DIFF_STATE_SAME);
}

static void a_uniform_change_of_whole_commands_is_a_regression(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_runs(four, 4), *head = synthetic_runs(four_all_doubled, 4);
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_AUTO);

	assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_RUN);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_int_equal(diff->total.state, DIFF_STATE_MORE);
	assert_float_equal(diff->total.delta / diff->total.base, 1, 1e-9);
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "2.00 times as much CPU time per run"));
}

static void runs_are_counted(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = synthetic_runs(four, 2), *head = synthetic_runs(four, 6);
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_AUTO);

	assert_float_equal(diff->scale.factor, 1.0 / 3, 1e-12);
	assert_float_equal(diff->total.delta / diff->total.base, 0, 1e-12);
}

static void shares_and_work_scale_as_told(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_profile(four), *head = synthetic_profile(four_all_doubled);
	struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_SHARE);

	assert_float_equal(diff->scale.factor, 0.5, 1e-12);
	diff_destroy(diff);
	diff = diff_in_mode(base, head, DIFF_SCALE_WORK);
	assert_float_equal(diff->scale.factor, 100.0 / 150, 1e-12);
	diff_destroy(diff);
}

static struct profile *recorded_for(double ms, const char *frames, int64_t count)
{
	struct synthetic s = synthetic_create();

	synthetic_run(&s, false, ms);
	synthetic_add(&s, synthetic_stack(&s, frames), count, -1);
	return synthetic_finish(&s);
}

static void rates_need_durations(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = recorded_for(1000, "main", 500), *head = recorded_for(4000, "main", 1000),
		       *bare = synthetic_profile(four);
	struct diff_options options = { .scale = DIFF_SCALE_RATE };
	struct diff *diff = synthetic_diff(base, head, &options), *none = NULL;
	struct error err;

	assert_float_equal(diff->scale.factor, 0.25, 1e-12);
	diff_destroy(diff);
	assert_false(diff_create(base, bare, &options, &none, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	assert_non_null(strstr(err.message, "which head does not hold"));
}

/* Everything that was built anew got dearer; only the library that was not says how much load there was. */
static void unchanged_code_carries_the_factor(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_runs(
		"m#1;a#2 3000\nm#1;b#3 3000\nm#1;c#4 2000\nm#1;x!l#5 900\nm#1;y!l#6 900\nm#1;z!l#7 900\n", 3);
	CLEANUP(profile_cleanup)
	struct profile *head = synthetic_runs(
		"m#11;a#12 6000\nm#11;b#13 6000\nm#11;c#14 4000\nm#11;x!l#5 900\nm#11;y!l#6 900\nm#11;z!l#7 900\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_ROBUST);

	assert_float_equal(diff->scale.factor, 1, 1e-9);
	assert_true(is_flag(synthetic_function(diff, "a")->self.state));
	assert_int_equal(synthetic_function(diff, "x")->self.state, DIFF_STATE_SAME);
	assert_int_equal(synthetic_function(diff, "x")->code, DIFF_CODE_SAME);
	assert_int_equal(synthetic_function(diff, "a")->code, DIFF_CODE_CHANGED);
}

/* An interpreter's functions do what the script asks for: the script's own functions, with all they run, tell the load.
 */
static void what_the_program_runs_carries_the_load(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base =
		synthetic_profile("main;py::a;eval!python#1 3000\nmain;py::b;eval!python#1;alloc!python#2 3000\n"
				  "main;py::c;eval!python#1;free!python#3 3000\nmain;py::d;eval!python#1 3000\n");
	CLEANUP(profile_cleanup)
	struct profile *head = synthetic_profile(
		"main;py::a;eval!python#1 3000\nmain;py::b;eval!python#1;alloc!python#2 3000\n"
		"main;py::c;eval!python#1;free!python#3 3000\nmain;py::d;eval!python#1 3000\n"
		"main;py::added;eval!python#1;alloc!python#2 2000\nmain;py::added;eval!python#1;free!python#3 2000\n");
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_ROBUST);

	assert_float_equal(diff->scale.factor, 1, 1e-9);
	assert_false(diff->scale.load_is_unknown);
	assert_true(diff->scale.factor_low < 1 && diff->scale.factor_high > 1);
	assert_true(is_flag(synthetic_function(diff, "py::added")->total.state));
}

/* Most of head's time is in what base hardly had: how much of the rest is less load, nobody can tell. */
static void a_load_that_cannot_be_told_is_unknown(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base =
		synthetic_profile("main;parse#1 4000\nmain;send#2 4000\nmain;log#3 1000\nmain;close#4 1000\n");
	CLEANUP(profile_cleanup)
	struct profile *head = synthetic_profile(
		"main;parse#1 400\nmain;send#2 100\nmain;log#3 200\nmain;close#4 60\nmain;compress#5 9000\n");
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_ROBUST);

	assert_true(diff->scale.load_is_unknown);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "`compress` is new"));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text),
		"; how much of the total's change is load is unknown, because too few functions tell it"));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "--scale work=BASE:HEAD"));
}

static void words_are_parsed(void **state)
{
	static const char *const wrong[] = { "", "robus", "work", "work=", "work=1", "work=1:", "work=0:1", "work=1:-2",
		"work=1:2x", "work=nan:1" };
	enum diff_scale_mode mode;
	double work[DIFF_SIDES];
	struct error err;

	assert_true(diff_scale_parse("per-run", &mode, work, &err) && mode == DIFF_SCALE_PER_RUN);
	assert_true(diff_scale_parse("auto", &mode, work, &err) && mode == DIFF_SCALE_AUTO);
	assert_true(diff_scale_parse("work=1000:1200.5", &mode, work, &err) && mode == DIFF_SCALE_WORK);
	assert_true(work[0] == 1000 && work[1] == 1200.5);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(diff_scale_parse(wrong[i], &mode, work, &err));
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

/* A factor that few samples tell is known badly, and the whole with it. */
static void an_uncertain_factor_makes_the_whole_uncertain(void **state)
{
	struct synthetic sides[DIFF_SIDES] = { synthetic_create(), synthetic_create() };
	struct profile *profiles[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		synthetic_run(&sides[side], false, 0);
		for (int i = 0; i < 40; i++) {
			char frames[16];

			snprintf(frames, sizeof(frames), "main;f%d", i);
			synthetic_add(&sides[side], synthetic_stack(&sides[side], frames),
				side == DIFF_BASE ? 10 : 7 + i % 7, -1);
		}
		profiles[side] = synthetic_finish(&sides[side]);
	}
	CLEANUP(diff_cleanup)
	struct diff *robust = diff_in_mode(profiles[0], profiles[1], DIFF_SCALE_ROBUST),
		    *share = diff_in_mode(profiles[0], profiles[1], DIFF_SCALE_SHARE);

	assert_true(robust->total.ci_low < 0 && robust->total.ci_high > 0);
	assert_true(robust->total.ci_high - robust->total.ci_low > share->total.ci_high - share->total.ci_low);
	for (int side = 0; side < DIFF_SIDES; side++)
		profile_destroy(profiles[side]);
}

/* ---- Files that do not say how long they are ---- */

static struct profile *profile_of(const char *lines, int64_t duration_s, int64_t period, const char *period_type)
{
	struct profile *profile = synthetic_profile(lines);
	struct error err;

	profile->runs[0].duration_ns = duration_s * 1000000000;
	profile->period = period;
	assert_true(profile_intern(profile, period_type, &profile->period_type.type, &err) &&
		    profile_intern(profile, "nanoseconds", &profile->period_type.unit, &err));
	return profile;
}

static void a_length_that_no_file_says_leaves_shares(void **state)
{
	static const int64_t lengths[][DIFF_SIDES] = { { 0, 0 }, { 10, 0 }, { 0, 10 } };
	static const char *const words[] = { "no file says for how long", "head's files do not say for how long",
		"base's files do not say for how long" };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CLEANUP(profile_cleanup)
		struct profile *base = profile_of(four, lengths[i][0], 0, ""),
			       *head = profile_of(four_all_doubled, lengths[i][1], 0, "");
		struct diff_gate gate = { .subject = DIFF_GATE_TOTAL, .percent = 5 };
		struct diff_options gated = { .gates = &gate, .gate_count = 1 },
				    ignoring = { .gates = &gate, .gate_count = 1, .gates_ignore_warnings = true };
		CLEANUP(diff_cleanup)
		struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_AUTO),
			    *told = diff_in_mode(base, head, DIFF_SCALE_PER_RUN),
			    *limited = synthetic_diff(base, head, &gated),
			    *ignored = synthetic_diff(base, head, &ignoring);

		assert_int_equal(diff->scale.mode, DIFF_SCALE_SHARE);
		assert_true(diff->scale.length_is_unknown);
		assert_false(any_flag(diff));
		assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
		assert_true(strstr(diff_string(diff, diff->verdict_text), "only shares can be compared") ==
			    diff_string(diff, diff->verdict_text));
		synthetic_assert_says(diff, words[i]);
		synthetic_assert_says(diff, "head's total is 2.00 times base's");
		assert_false(told->scale.length_is_unknown);
		assert_null(strstr(diff_string(told, told->verdict_text), "only shares"));
		synthetic_assert_says(limited, "the --fail-on limits were not checked");
		/* By share the totals are equal, so no limit would be exceeded. */
		assert_int_equal(ignored->verdict, DIFF_INCONCLUSIVE);
		synthetic_assert_says(ignored, "--scale per-run compares them");
	}
}

static void lengths_that_are_known_are_divided_out(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = profile_of(four, 10, 0, ""), *head = profile_of(four_all_doubled, 20, 0, "");
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_AUTO);

	assert_int_equal(diff->scale.mode, DIFF_SCALE_RATE);
	assert_false(diff->scale.length_is_unknown);
	assert_float_equal(diff->scale.factor, 0.5, 1e-9);
	assert_float_equal(diff->total.delta, 0, 1e-3);
}

/* Samples stand for what their periods say: a hundred a second are as much as ten a second of ten times the period. */
static void samples_of_other_periods_stand_for_more(void **state)
{
	static const struct {
		int64_t base, head;
		double factor; /* 0: not known */
	} cases[] = { { 10000000, 10000000, 1 }, { 10000000, 1000000, 0.1 }, { 1000000, 5000000, 5 }, { 0, 0, 1 },
		{ 10000000, 0, 0 }, { 0, 10000000, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup)
		struct profile *base = profile_of(four, 10, cases[i].base, "cpu"),
			       *head = profile_of(four, 10, cases[i].head, "cpu");
		struct diff_options options = { .metric = "samples" };
		CLEANUP(diff_cleanup)
		struct diff *diff = synthetic_diff(base, head, &options),
			    *time = diff_in_mode(base, head, DIFF_SCALE_AUTO);

		assert_true(diff->scale.length_is_unknown == !(cases[i].factor > 0));
		assert_float_equal(diff->scale.factor, cases[i].factor > 0 ? cases[i].factor : 1, 1e-9);
		assert_true((cases[i].factor != 1) == (diff->scale_text != 0 || diff->scale.length_is_unknown));
		assert_float_equal(time->scale.factor, 1, 1e-9);
	}
}

/* Both sides say how often they were sampled, but not in the same unit. */
static void samples_of_other_units_are_not_compared(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = profile_of(four, 10, 10000000, "cpu"), *head = profile_of(four, 10, 4000, "cycles");
	struct diff_options options = { .metric = "samples" };
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, &options);

	(void)state;
	assert_true(diff->scale.length_is_unknown);
	synthetic_assert_says(diff, "in the same unit");
}

/* What is new beside a few samples says nothing of those, whatever their share was: it may come on top. */
static void a_share_is_no_direction(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_profile("main;work 40\n"),
		       *head = synthetic_profile("main;work 40\nlock;wait 4000\n");
	CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, DIFF_SCALE_AUTO);

	assert_true(diff->scale.length_is_unknown);
	assert_int_not_equal(diff->verdict, DIFF_IMPROVED);
	assert_int_not_equal(synthetic_function(diff, "work")->total.state, DIFF_STATE_LESS);
}

/* However few samples there are, nothing can take less than nothing. */
static void no_interval_ends_below_nothing(void **state)
{
	static const char *const pairs[][DIFF_SIDES] = { { "main;a 1\n", "main;a 1\nlock;b 14101\n" },
		{ "main;a 2\nmain;b 1\n", "main;a 1\n" }, { "main;a 3\n", "main;a 1\nmain;c 700\n" } };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		CLEANUP(profile_cleanup)
		struct profile *base = synthetic_profile(pairs[i][0]), *head = synthetic_profile(pairs[i][1]);

		for (enum diff_scale_mode mode = DIFF_SCALE_AUTO; mode <= DIFF_SCALE_SHARE; mode++) {
			CLEANUP(diff_cleanup) struct diff *diff = diff_in_mode(base, head, mode);

			assert_false(diff->total.ci_low < -diff->total.base);
			for (size_t f = 0; f < diff->function_count; f++)
				assert_false(diff->functions[f].self.ci_low < -diff->functions[f].self.base ||
					     diff->functions[f].total.ci_low < -diff->functions[f].total.base);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_uncertain_factor_makes_the_whole_uncertain),
		cmocka_unit_test(one_doubled_function_turns_no_other_blue),
		cmocka_unit_test(more_runs_are_no_load),
		cmocka_unit_test(a_factor_of_few_functions_is_said),
		cmocka_unit_test(an_unknown_load_flags_what_it_cannot_explain),
		cmocka_unit_test(twice_the_traffic_flags_nothing),
		cmocka_unit_test(a_uniform_change_of_whole_commands_is_a_regression),
		cmocka_unit_test(runs_are_counted),
		cmocka_unit_test(shares_and_work_scale_as_told),
		cmocka_unit_test(rates_need_durations),
		cmocka_unit_test(unchanged_code_carries_the_factor),
		cmocka_unit_test(what_the_program_runs_carries_the_load),
		cmocka_unit_test(a_load_that_cannot_be_told_is_unknown),
		cmocka_unit_test(a_length_that_no_file_says_leaves_shares),
		cmocka_unit_test(lengths_that_are_known_are_divided_out),
		cmocka_unit_test(samples_of_other_periods_stand_for_more),
		cmocka_unit_test(samples_of_other_units_are_not_compared),
		cmocka_unit_test(a_share_is_no_direction),
		cmocka_unit_test(no_interval_ends_below_nothing),
		cmocka_unit_test(words_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
