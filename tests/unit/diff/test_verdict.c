/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 3, FUNCTIONS = 3 };

/* Runs whose sizes differ, in any metric: `sizes` are percent of `counts`, the samples of the functions a, b and c. */
static struct profile *uneven_runs(const char *metric, const char *unit, const int64_t counts[FUNCTIONS], const int64_t sizes[RUNS])
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

static struct diff *compare(const char *metric, const char *unit, const int64_t base[FUNCTIONS], const int64_t head[FUNCTIONS])
{
	static const int64_t base_sizes[RUNS] = { 80, 100, 120 }, head_sizes[RUNS] = { 85, 95, 120 };
	struct profile *b = uneven_runs(metric, unit, base, base_sizes), *h = uneven_runs(metric, unit, head, head_sizes);
	struct diff_options options = { .metric = metric };
	struct diff *diff = synthetic_diff(b, h, &options);

	profile_destroy(b);
	profile_destroy(h);
	return diff;
}

static const int64_t before[FUNCTIONS] = { 4000, 3000, 2000 }, less[FUNCTIONS] = { 3400, 2550, 1700 };

/* The same figures as CPU time are a machine that was faster; of events that are counted nothing is divided out. */
static void only_time_knows_the_speed_of_the_machine(void **state)
{
	static const struct {
		const char *metric, *unit;
		bool is_time;
	} metrics[] = {
		{ "cpu", "nanoseconds", true },
		{ "cycles", "count", true },
		{ "page-faults", "count", false },
		{ "instructions", "count", false },
		{ "alloc_space", "bytes", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		struct diff *diff = compare(metrics[i].metric, metrics[i].unit, before, less);
		bool divided = strstr(diff_string(diff, diff->scale_text), "divided out") != NULL;

		assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_RUN);
		if (divided != metrics[i].is_time)
			fail_msg("%s: %s", metrics[i].metric, diff_string(diff, diff->scale_text));
		if (!metrics[i].is_time)
			assert_float_equal(diff->scale.factor, 1, 1e-9);
		diff_destroy(diff);
	}
}

/* Twice as many in every run, which differ less than that. */
static void counts_that_doubled_are_a_regression(void **state)
{
	static const int64_t doubled[FUNCTIONS] = { 12000, 9000, 6000 };
	struct diff *diff = compare("page-faults", "count", before, doubled);

	(void)state;
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "200.0 % more page-faults per run"));
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
	} cases[] = { { "main;f 3\nmain;g 2\n", "too few samples" }, { "main;f 30000\nmain;g 20000\n", "between processes" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *profile = synthetic_profile(cases[i].lines);
		struct diff *diff = synthetic_diff(profile, profile, NULL);

		assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
		assert_non_null(strstr(diff_string(diff, diff->verdict_text), cases[i].step));
		diff_destroy(diff);
		profile_destroy(profile);
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
	struct diff *diff = compare("page-faults", "count", before, halved);

	(void)state;
	assert_int_equal(diff->verdict, DIFF_IMPROVED);
	assert_true(holds_zero(&diff->total));
	assert_int_equal(diff->total.state, DIFF_STATE_UNPROVEN);
	assert_ptr_equal(strstr(diff_string(diff, diff->verdict_text), "c takes 100.0 % fewer page-faults"),
		diff_string(diff, diff->verdict_text));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "that the whole differs is not proven"));
	diff_destroy(diff);
}

/* Whatever is called more or less has an interval without 0, small counts and heavy rows included. */
static void what_is_proven_has_an_interval_without_0(void **state)
{
	(void)state;
	for (int64_t percent = 20; percent <= 300; percent += 5) {
		for (int64_t size = 8; size <= 8000; size *= 10) {
			const int64_t base[FUNCTIONS] = { size, size / 2, size / 4 },
				      head[FUNCTIONS] = { size * percent / 100, size / 2, size / 4 };
			struct diff *diff = compare("page-faults", "count", base, head);

			if (diff_state_is_difference(diff->total.state))
				assert_false(holds_zero(&diff->total));
			for (size_t i = 0; i < diff->function_count; i++) {
				if (diff_state_is_difference(diff->functions[i].self.state))
					assert_false(holds_zero(&diff->functions[i].self));
				if (diff_state_is_difference(diff->functions[i].total.state))
					assert_false(holds_zero(&diff->functions[i].total));
			}
			diff_destroy(diff);
		}
	}
}

static void equal_totals_take_as_much(void **state)
{
	struct diff *diff;
	struct profile *runs = synthetic_runs("main;a 4000\nmain;b 3000\n", 3);

	(void)state;
	diff = synthetic_diff(runs, runs, NULL);
	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	assert_ptr_equal(strstr(diff_string(diff, diff->verdict_text),
				 "no difference is proven; head takes as much CPU time per run (95 % interval of the difference -"),
		diff_string(diff, diff->verdict_text));
	diff_destroy(diff);
	profile_destroy(runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_time_knows_the_speed_of_the_machine),
		cmocka_unit_test(counts_that_doubled_are_a_regression),
		cmocka_unit_test(the_next_step_fits_what_is_missing),
		cmocka_unit_test(a_function_does_not_stand_for_the_whole),
		cmocka_unit_test(what_is_proven_has_an_interval_without_0),
		cmocka_unit_test(equal_totals_take_as_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
