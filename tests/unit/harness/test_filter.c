/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/harness.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define MAKE(wanted, others, filter)                                                                                   \
	harness_filter_make(                                                                                           \
		wanted, sizeof(wanted) / sizeof((wanted)[0]), others, sizeof(others) / sizeof((others)[0]), filter)

static void names_are_those_that_harnesses_know(void **state)
{
	static const char *const wanted[] = { "tests/test_x.py::test_parse[a::b]", "suite::BM_Copy/64",
		"suite/one::BenchmarkMap/keys=200-2", "suite::BenchmarkFib-16", "b.rs::group::sum.of(2)",
		"x.cpp::a\\:\\:b" },
				 *const others[] = { "suite::BM_Sort" };
	static struct harness_filter filter;

	assert_true(MAKE(wanted, others, &filter));
	assert_string_equal(filter.names, "test_parse|BM_Copy|BenchmarkMap|BenchmarkFib|sum\\.of\\(2\\)|a");
	assert_string_equal(filter.deselected, "--deselect='suite::BM_Sort'");
}

static void nothing_that_is_wanted_is_deselected(void **state)
{
	static const char *const wanted[] = { "tests/test_x.py::test_ab", "test_y.py::test_c" }, *const others[] = {
		"tests/test_x.py::test_a", "tests/test_x.py::test_b[it's]", "tests/test_y.py::test_c"
	};
	static struct harness_filter filter;

	assert_true(MAKE(wanted, others, &filter));
	/* test_a is the begin of test_ab; test_y.py::test_c may be either file's. */
	assert_string_equal(filter.deselected,
		"--deselect='tests/test_x.py::test_b[it'\"'\"'s]' --deselect='test_x.py::test_b[it'\"'\"'s]' "
		"--deselect='tests/test_y.py::test_c'");
}

static void what_cannot_be_told_is_no_filter(void **state)
{
	static const char *const odd[] = { "a::b\n" }, *const none[] = { "[8]" },
				 *const others[] = { "a::c\nd", "a::e" }, *const fine[] = { "a::b" };
	static struct harness_filter filter;
	char *names[600];
	static char text[600][64];

	assert_false(MAKE(odd, others, &filter));
	assert_false(MAKE(none, others, &filter));
	assert_false(harness_filter_make(fine, 0, others, 2, &filter));
	assert_true(MAKE(fine, others, &filter));
	assert_string_equal(filter.deselected, "--deselect='a::e'");
	for (int i = 0; i < 600; i++) {
		snprintf(text[i], sizeof(text[i]), "a::a_name_of_more_than_fifty_characters_in_all_number_%04d", i);
		names[i] = text[i];
	}
	/* The wanted ones have to fit; of the others as many as do are left out. */
	assert_false(harness_filter_make((const char *const *)names, 600, fine, 1, &filter));
	assert_true(harness_filter_make(fine, 1, (const char *const *)names, 600, &filter));
	assert_true(strlen(filter.deselected) > HARNESS_FILTER_BYTES / 2);
	assert_string_equal(filter.deselected + strlen(filter.deselected) - 1, "'");
}

static void the_environment_is_put_back(void **state)
{
	static const char *const wanted[] = { "a::b" }, *const others[] = { "a::c" };
	static struct harness_filter filter;
	struct harness_filtering *filtering;
	struct error err;

	assert_true(MAKE(wanted, others, &filter));
	unsetenv("BENCHMARK_FILTER");
	setenv("PYTEST_ADDOPTS", "-v", 1);
	assert_true(harness_filter_set(&filter, &filtering, &err));
	assert_string_equal(getenv("PYTEST_ADDOPTS"), "--deselect='a::c' -v");
	assert_string_equal(getenv("BENCHMARK_FILTER"), "b");
	assert_string_equal(getenv("KELVIN_BENCHMARKS"), "b");
	harness_filter_unset(filtering);
	assert_string_equal(getenv("PYTEST_ADDOPTS"), "-v");
	assert_null(getenv("BENCHMARK_FILTER"));
	assert_null(getenv("KELVIN_BENCHMARKS"));
	/* What the user filters by stays. */
	setenv("BENCHMARK_FILTER", "mine", 1);
	assert_true(harness_filter_set(&filter, &filtering, &err));
	assert_string_equal(getenv("BENCHMARK_FILTER"), "mine");
	harness_filter_unset(filtering);
	harness_filter_unset(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_that_harnesses_know),
		cmocka_unit_test(nothing_that_is_wanted_is_deselected),
		cmocka_unit_test(what_cannot_be_told_is_no_filter),
		cmocka_unit_test(the_environment_is_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
