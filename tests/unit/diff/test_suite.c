/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suites.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct diff_suite *compare(struct profile *base, struct profile *head, const struct diff_suite_options *options)
{
	return suites_compare(base, head, options);
}

static void assert_says(const struct diff_suite *suite, const char *words)
{
	const char *text = diff_suite_string(suite, suite->verdict_text);

	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

static bool warns(const struct diff_suite *suite, const char *words)
{
	for (size_t i = 0; i < suite->warning_count; i++)
		if (strstr(diff_suite_string(suite, suite->warnings[i].text), words))
			return true;
	return false;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-12))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* Three executions of `parse`, `write` and `old` or `new`, which scatter by a part in a thousand. */
static struct profile *three_executions(bool is_head)
{
	static const double off[] = { 1, 1.001, 0.999 };
	struct profile *profile = suites_profile();

	for (int i = 0; i < 3; i++) {
		suites_add_execution(profile);
		suites_add(profile, "a.py::test_parse", 1000 * off[i] * (is_head ? 1.2 : 1), 500);
		suites_add(profile, "a.py::test_write", 2000 * off[(i + 1) % 3], 100);
		suites_add(profile, is_head ? "a.py::test_new" : "a.py::test_old", 10, 10);
	}
	return profile;
}

static void a_slower_benchmark_is_named_first(void **state)
{
	struct profile *base = three_executions(false), *head = three_executions(true);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	struct diff_suite *suite = compare(base, head, &options);
	const struct diff_benchmark *first = &suite->benchmarks[0];

	(void)state;
	assert_int_equal(suite->benchmark_count, 4);
	assert_string_equal(diff_suite_string(suite, first->name), "test_parse");
	assert_string_equal(diff_suite_string(suite, first->uri), "a.py::test_parse");
	assert_int_equal(first->verdict, DIFF_REGRESSED);
	assert_near(first->change, 0.2);
	assert_true(first->change_low > 0.19 && first->change_high < 0.21);
	assert_true(first->q < 0.05 && first->p <= first->q);
	assert_int_equal(first->executions[DIFF_HEAD], 3);
	assert_int_equal(first->rounds[DIFF_HEAD], 300);
	assert_int_equal(first->iterations[DIFF_BASE], 1500);
	assert_near(first->value[DIFF_HEAD] / first->value[DIFF_BASE], 1.2);
	assert_int_equal(suites_find(suite, "test_write")->verdict, DIFF_UNCHANGED);
	assert_int_equal(suites_find(suite, "test_new")->presence, DIFF_ADDED);
	assert_true(isnan(suites_find(suite, "test_new")->value[DIFF_BASE]));
	assert_string_equal(diff_benchmark_verdict_name(suites_find(suite, "test_old")), "removed");
	assert_string_equal(diff_suite_string(suite, suite->benchmarks[3].name), "test_write");
	assert_int_equal(suite->verdict, DIFF_REGRESSED);
	assert_int_equal(suite->verdicts[DIFF_REGRESSED], 1);
	assert_true(suite->is_measured && !suite->is_exact && suite->assumed_rsd == 0);
	assert_says(suite, "1 of 2 benchmarks is slower: test_parse by 20.0 % (95 % interval");
	assert_says(suite, "1 added, 1 removed");
	assert_true(warns(suite, "1 benchmark is only in head: test_new"));
	diff_suite_destroy(suite);
	profile_destroy(base);
	profile_destroy(head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slower_benchmark_is_named_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
