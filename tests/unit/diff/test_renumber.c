/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/assign.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Assignments ---- */

static double least_by_trial(const double *costs, size_t rows, size_t columns, size_t row, unsigned int taken)
{
	double least = row == rows ? 0 : INFINITY;

	for (size_t column = 0; row < rows && column < columns; column++) {
		if (!(taken & 1U << column))
			least = fmin(least, costs[row * columns + column] + least_by_trial(costs, rows, columns,
										    row + 1, taken | 1U << column));
	}
	return least;
}

static void an_assignment_costs_the_least(void **state)
{
	enum { MOST = 6, TRIALS = 300 };

	srand(1);
	for (size_t trial = 0; trial < TRIALS; trial++) {
		size_t columns = 1 + (size_t)rand() % MOST, rows = 1 + (size_t)rand() % columns;
		uint32_t column_of[MOST];
		unsigned int taken = 0;
		double costs[MOST * MOST], sum = 0;

		for (size_t i = 0; i < rows * columns; i++)
			costs[i] = rand() % 20;
		assign_least(costs, rows, columns, column_of);
		for (size_t row = 0; row < rows; row++) {
			assert_true(column_of[row] < columns);
			assert_false(taken & 1U << column_of[row]);
			taken |= 1U << column_of[row];
			sum += costs[row * columns + column_of[row]];
		}
		assert_float_equal(sum, least_by_trial(costs, rows, columns, 0, 0), 1e-9);
	}
}

/* ---- Functions that a compiler numbered anew ---- */

enum { SAMPLES = 1000 };

static const struct diff_function *expect_tier(const struct diff *diff, const char *name, enum diff_tier tier)
{
	const struct diff_function *f = synthetic_function(diff, name);

	assert_string_equal(diff_tier_name(f->tier), diff_tier_name(tier));
	return f;
}

static void assert_nothing_came_or_went(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (diff->functions[i].tier == DIFF_TIER_ONE_SIDED || diff_tier_is_rename(diff->functions[i].tier))
			fail_msg("%s is %s", diff_string(diff, diff->functions[i].name),
				diff_tier_name(diff->functions[i].tier));
}

static void a_number_alone_is_the_same_function(void **state)
{
	struct profile *base = synthetic_profile("main;run.func1;work 400\nmain;rest 600\n");
	struct profile *head = synthetic_profile("main;run.func3;work 2000\nmain;rest 180\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	expect_tier(diff, "run.func3", DIFF_TIER_RENUMBERED);
	assert_nothing_came_or_went(diff);
}

/* One was inserted, which moves the numbers of all behind it: what they call tells which is which. */
static void what_they_call_tells_shifted_functions(void **state)
{
	CLEANUP(cleanup_free) struct text *base = calloc(1, sizeof(*base));
	CLEANUP(cleanup_free) struct text *head = calloc(1, sizeof(*head));

	for (int i = 0; i < 10; i++) {
		add_line(base, "main;dispatch;S.lambda$main$%d;work%c %d\n", i, 'a' + i, SAMPLES + 100 * i);
		add_line(head, "main;dispatch;S.lambda$main$%d;work%c %d\n", i < 3 ? i : i + 1, 'a' + i,
			SAMPLES + 100 * i);
	}
	add_line(head, "main;dispatch;S.lambda$main$3;fresh 50\n");
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(synthetic_profile(base->bytes), synthetic_profile(head->bytes), NULL);

	for (int i = 4; i <= 10; i++) {
		char name[32];
		const struct diff_function *f;

		snprintf(name, sizeof(name), "S.lambda$main$%d", i);
		f = expect_tier(diff, name, DIFF_TIER_RENUMBERED);
		assert_float_equal(f->raw_total[DIFF_BASE], f->raw_total[DIFF_HEAD], 1);
	}
	expect_tier(diff, "S.lambda$main$3", DIFF_TIER_ONE_SIDED);
	expect_tier(diff, "S.lambda$main$2", DIFF_TIER_SAME);
}

static void code_tells_functions_apart(void **state)
{
	struct profile *base = synthetic_profile("main;cmp.0#7 400\nmain;cmp.1#8 600\n");
	struct profile *head = synthetic_profile("main;cmp.1#7 600\nmain;cmp.2#8 400\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);
	const struct diff_function *f = synthetic_function(diff, "cmp.1");

	assert_float_equal(f->raw_total[DIFF_BASE] * 6, f->raw_total[DIFF_HEAD] * 4, 1);
	assert_int_equal(f->code, DIFF_CODE_SAME);
}

/* Their times changed places. Nothing says that the functions did. */
static void functions_of_both_sides_are_never_swapped(void **state)
{
	struct profile *base = synthetic_profile("main;run.func1 100\nmain;run.func2 9000\nmain;other 5000\n");
	struct profile *head = synthetic_profile("main;run.func1 9000\nmain;run.func2 100\nmain;other 5000\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);
	const struct diff_function *f = expect_tier(diff, "run.func1", DIFF_TIER_SAME);

	assert_float_equal(f->raw_total[DIFF_HEAD], 90 * f->raw_total[DIFF_BASE], 1);
}

static struct diff *compare_lambdas(int base_count, int head_first, int head_count)
{
	CLEANUP(cleanup_free) struct text *base = calloc(1, sizeof(*base));
	CLEANUP(cleanup_free) struct text *head = calloc(1, sizeof(*head));

	for (int i = 0; i < base_count; i++)
		add_line(base, "main;dispatch;S.lambda$main$%d;work 40\n", i);
	for (int i = head_first; i < head_first + head_count; i++)
		add_line(head, "main;dispatch;S.lambda$main$%d;work 40\n", i);
	add_line(base, "main;other 600\n");
	add_line(head, "main;other 600\n");
	return synthetic_compare(synthetic_profile(base->bytes), synthetic_profile(head->bytes), NULL);
}

static void functions_that_nothing_tells_apart_are_a_group(void **state)
{
	static const struct {
		int base, first, head;
		const char *name;
	} cases[] = {
		{ 17, 17, 17, "S.lambda$main$* (17 functions)" },
		{ 17, 1, 17, "S.lambda$main$* (17 functions)" },
		{ 16, 0, 17, "S.lambda$main$* (16 and 17 functions)" },
		{ 1000, 1, 1000, "S.lambda$main$* (1000 functions)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(diff_cleanup)
		struct diff *diff = compare_lambdas(cases[i].base, cases[i].first, cases[i].head);

		expect_tier(diff, cases[i].name, DIFF_TIER_GROUP);
		assert_int_equal(diff->member_count, cases[i].base + cases[i].head);
		assert_int_equal(diff->function_count, 5);
		assert_nothing_came_or_went(diff);
	}
}

static void functions_of_the_same_numbers_are_the_same(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare_lambdas(300, 0, 300);

	assert_int_equal(diff->member_count, 0);
	assert_int_equal(diff->function_count, 304);
	for (size_t i = 0; i < diff->function_count; i++)
		assert_int_equal(diff->functions[i].tier, DIFF_TIER_SAME);
}

/* Each level has a number, and none has a neighbour whose name stays. */
static void nested_functions_are_matched(void **state)
{
	struct profile *base =
		synthetic_profile("main;core$a$fn__1;core$b$fn__2;core$c$fn__3;work 400\nmain;other 600\n");
	struct profile *head =
		synthetic_profile("main;core$a$fn__11;core$b$fn__12;core$c$fn__13;work 400\nmain;other 600\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	expect_tier(diff, "core$c$fn__13", DIFF_TIER_RENUMBERED);
	assert_nothing_came_or_went(diff);
}

/* Names whose words differ are never matched by their templates, nor others that are called elsewhere. */
static void other_functions_stay_others(void **state)
{
	struct profile *base = synthetic_profile("main;a;run.func1 400\nmain;b;go.func1 300\nmain;b;rest 600\n");
	struct profile *head = synthetic_profile("main;a;stop.func3 100\nmain;a;go.func2 400\nmain;b;rest 600\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	expect_tier(diff, "run.func1", DIFF_TIER_ONE_SIDED);
	expect_tier(diff, "stop.func3", DIFF_TIER_ONE_SIDED);
	expect_tier(diff, "go.func1", DIFF_TIER_ONE_SIDED);
	expect_tier(diff, "go.func2", DIFF_TIER_ONE_SIDED);
}

/* ---- Classes with other names ---- */

static void expect_renaming(const struct diff *diff, const char *base, const char *head, size_t functions)
{
	assert_int_equal(diff->renaming_count, 1);
	assert_string_equal(diff_string(diff, diff->renamings[0].shown[DIFF_BASE]), base);
	assert_string_equal(diff_string(diff, diff->renamings[0].shown[DIFF_HEAD]), head);
	assert_int_equal(diff->renamings[0].functions, functions);
}

/* Makes a text of methods that call others than each other, and of their class, which has other functions beside it. */
static struct profile *profile_of_class(const char *name, const char *separator, const char *more)
{
	static const char *const methods[] = { "read", "check", "store" };
	CLEANUP(cleanup_free) struct text *text = calloc(1, sizeof(*text));

	for (int i = 0; i < 3; i++) {
		add_line(text, "main;%s%s%s;work%c 400\n", name, separator, methods[i], 'a' + i);
		add_line(text, "main;%s%s%s;sort%c 300\n", name, separator, methods[i], 'a' + i);
	}
	add_line(text, "main;other 600\n%s", more);
	return synthetic_profile(text->bytes);
}

static void a_class_with_another_name_is_told_once(void **state)
{
	static const struct {
		const char *base, *head, *separator, *shown[DIFF_SIDES];
	} cases[] = {
		{ "Cart", "Basket", ".", { "Cart.*", "Basket.*" } },
		{ "shop::Cart", "shop::Basket", "::", { "shop::Cart::*", "shop::Basket::*" } },
		{ "old::io::File", "fresh::io::File", "::", { "old::*", "fresh::*" } },
		{ "main.(*Cart)", "main.(*Basket)", ".", { "main.(*Cart).*", "main.(*Basket).*" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(diff_cleanup)
		struct diff *diff = synthetic_compare(profile_of_class(cases[i].base, cases[i].separator, ""),
			profile_of_class(cases[i].head, cases[i].separator, ""), NULL);

		expect_renaming(diff, cases[i].shown[DIFF_BASE], cases[i].shown[DIFF_HEAD], 3);
	}
}

/* Neither callers nor callees tell which one it is: the class does. */
static void a_method_follows_its_class(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(profile_of_class("Cart", "::", "main;Cart::total(int);sum 40\n"),
		profile_of_class("Basket", "::", "main;sum;Basket::total(int) 900\n"), NULL);

	expect_renaming(diff, "Cart::*", "Basket::*", 4);
	expect_tier(diff, "Basket::total(int)", DIFF_TIER_PLACE);
	assert_true(diff_is_of_renaming(diff, synthetic_function(diff, "Basket::total(int)")));
}

/* It is in both profiles, so that some of its methods moved. */
static void a_class_that_is_still_there_has_no_other_name(void **state)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_compare(profile_of_class("Cart", "::", "main;Cart::total;sum 500\n"),
		profile_of_class("Basket", "::", "main;Cart::total;sum 500\n"), NULL);

	assert_int_equal(diff->renaming_count, 0);
	expect_tier(diff, "Basket::read", DIFF_TIER_PLACE);
}

static void a_module_with_another_name_is_told_once(void **state)
{
	struct profile *base = synthetic_profile("main!shop1;parse!shop1 400\nmain!shop1;run!shop1 600\n");
	struct profile *head = synthetic_profile("main!shop2;parse!shop2 400\nmain!shop2;run!shop2 600\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	expect_renaming(diff, "shop1", "shop2", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_with_another_name_is_told_once),
		cmocka_unit_test(a_method_follows_its_class),
		cmocka_unit_test(a_class_that_is_still_there_has_no_other_name),
		cmocka_unit_test(a_module_with_another_name_is_told_once),
		cmocka_unit_test(an_assignment_costs_the_least),
		cmocka_unit_test(a_number_alone_is_the_same_function),
		cmocka_unit_test(what_they_call_tells_shifted_functions),
		cmocka_unit_test(code_tells_functions_apart),
		cmocka_unit_test(functions_of_both_sides_are_never_swapped),
		cmocka_unit_test(functions_that_nothing_tells_apart_are_a_group),
		cmocka_unit_test(functions_of_the_same_numbers_are_the_same),
		cmocka_unit_test(nested_functions_are_matched),
		cmocka_unit_test(other_functions_stay_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
