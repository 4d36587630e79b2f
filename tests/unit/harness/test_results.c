/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/results.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>

#define STATS(median)                                                                                                  \
	"{\"min_ns\":1,\"max_ns\":9.5,\"mean_ns\":4,\"stdev_ns\":0.5,\"q1_ns\":3,\"median_ns\":" median                \
	",\"q3_ns\":5,\"rounds\":293,\"total_time\":1.5,\"iter_per_round\":14,\"warmup_iters\":1393}"
#define BENCHMARK(uri, median) "{\"name\":\"x\",\"uri\":\"" uri "\",\"config\":{},\"stats\":" STATS(median) "}"
#define FILE_OF(pid, benchmarks)                                                                                       \
	"{\"creator\":{\"name\":\"pytest-codspeed\",\"version\":\"5.0.4\",\"pid\":" pid                                \
	"},\"benchmarks\":[" benchmarks "]}"

static void add(struct results *results, const char *text)
{
	struct error err;

	if (!results_add(results, text, strlen(text), &err))
		fail_msg("%s", err.message);
}

static double take(struct results *results, const char *uri, int32_t pid)
{
	const struct results_stats *stats = results_take(results, uri, pid);

	return stats ? stats->median_ns : -1;
}

static void test_a_benchmark(void **state)
{
	const struct results_stats *stats;
	struct results results;

	results_init(&results);
	add(&results, FILE_OF("7", BENCHMARK("a.py::b", "4.25")));
	stats = results_take(&results, "a.py::b", 7);
	assert_non_null(stats);
	assert_true(stats->q1_ns == 3 && stats->median_ns == 4.25 && stats->q3_ns == 5 && stats->stdev_ns == 0.5);
	assert_int_equal(stats->rounds, 293);
	assert_int_equal(stats->iterations, 14);
	assert_null(results_take(&results, "a.py::b", 7));
	assert_null(results_take(&results, "a.py", 7));
	results_deinit(&results);
}

/* Two processes with the same benchmarks, one of which has one twice. */
static void test_equal_uris(void **state)
{
	struct results results;

	results_init(&results);
	add(&results, FILE_OF("7", BENCHMARK("b", "1") "," BENCHMARK("a", "2") "," BENCHMARK("b", "3")));
	add(&results, FILE_OF("8", BENCHMARK("b", "4")));
	assert_true(take(&results, "b", 8) == 4);
	assert_true(take(&results, "b", 7) == 1);
	assert_true(take(&results, "b", 7) == 3);
	assert_true(take(&results, "b", 7) == -1);
	/* cargo-codspeed writes for the processes that it starts. */
	assert_true(take(&results, "a", 9) == 2);
	results_deinit(&results);
}

static void test_numbers_that_are_none(void **state)
{
	static const char *const bad[] = {
		FILE_OF("7", BENCHMARK("a", "\"4\"")),
		FILE_OF("7", BENCHMARK("a", "-4")),
		FILE_OF("7", BENCHMARK("a", "null")),
		FILE_OF("7", "{\"uri\":\"a\",\"stats\":[]}"),
		FILE_OF("7", "{\"uri\":\"a\"}"),
		FILE_OF("7", "{\"uri\":7,\"stats\":" STATS("1") "}"),
		FILE_OF("7", "[]"),
		FILE_OF("7", ""),
	};
	struct results results;

	results_init(&results);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		add(&results, bad[i]);
	assert_int_equal(results.count, 0);
	results_deinit(&results);
}

static void test_files_that_are_none(void **state)
{
	static const char *const bad[] = { "", "{", "[]", "{\"benchmarks\":{}}", "nonsense",
		"{\"benchmarks\":[1e999]}" };
	struct results results;
	struct error err;

	results_init(&results);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(results_add(&results, bad[i], strlen(bad[i]), &err));
		assert_int_equal(err.code, ERROR_FORMAT);
	}
	results_deinit(&results);
}

static void add_environment(struct results *results, const char *text)
{
	struct error err;

	if (!results_add_environment(results, text, strlen(text), &err))
		fail_msg("%s", err.message);
}

static void test_toolchains(void **state)
{
	static const char python[] =
		"{\"integration_environment\":{\"python\":{\"version\":\"3.11.2 (main, Nov 30 2024) [GCC "
		"12.2.0]\",\"compiler\":\"GCC 12.2.0\",\"config\":[\"x\"]}}}";
	static const char rust[] =
		"{\"integration_environment\":{\"rust\":{\"rustc\":\"rustc 1.88.0 (6b00bc388 2025)\","
		"\"LLVM version\":\"20.1.5\",\"opt-level\":\"3\"}}}";
	static const char other[] =
		"{\"integration_environment\":{\"cpp\":{\"compiler\":\"Clang \\u001b 19\",\"n\":7}}}";
	struct results results;

	results_init(&results);
	add_environment(&results, python);
	add_environment(&results, python);
	assert_string_equal(results.toolchain.data, "Python 3.11.2, GCC 12.2.0");
	add_environment(&results, rust);
	add_environment(&results, other);
	add_environment(&results, "{\"integration_environment\":[]}");
	add_environment(&results, "[]");
	assert_string_equal(results.toolchain.data,
		"Python 3.11.2, GCC 12.2.0; rustc 1.88.0, LLVM 20.1.5, opt-level 3; compiler Clang \xef\xbf\xbd 19");
	results_deinit(&results);
}

static void test_out_of_memory(void **state)
{
	static const char text[] = FILE_OF("7", BENCHMARK("b", "1") "," BENCHMARK("a", "2"));

	for (size_t n = 0;; n++) {
		struct results results;
		struct error err;
		bool ok;

		results_init(&results);
		failing_malloc_after(n);
		ok = results_add(&results, text, sizeof(text) - 1, &err);
		failing_malloc_after(SIZE_MAX);
		results_deinit(&results);
		if (ok && n > 20)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_benchmark),
		cmocka_unit_test(test_equal_uris),
		cmocka_unit_test(test_numbers_that_are_none),
		cmocka_unit_test(test_files_that_are_none),
		cmocka_unit_test(test_toolchains),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
