/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/output.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct harness_output *new_output(void)
{
	struct harness_output *output;
	struct error err;

	assert_true(harness_output_create(&output, &err));
	return output;
}

static void say(struct harness_output *output, int64_t time_ns, const char *line)
{
	harness_output_line(output, 0, line, strlen(line), time_ns, true);
}

static void say_so_far(struct harness_output *output, int64_t time_ns, const char *line)
{
	harness_output_line(output, 0, line, strlen(line), time_ns, false);
}

static void free_result(struct harness_result *result)
{
	for (size_t i = 0; i < result->window_count; i++)
		free(result->windows[i].uri);
	free(result->windows);
	free(result->integration);
	*result = (struct harness_result){ 0 };
}

/* Ends the output, whose command has ended at `end_ns`; notices are kept as text. */
static struct harness_result finish(struct harness_output *output, int64_t end_ns, struct buffer *notices)
{
	struct harness_result result = { 0 };
	struct error err;

	buffer_init(notices, 10000);
	assert_true(harness_output_finish(output, end_ns, &result, notices, &err));
	harness_output_destroy(output);
	return result;
}

/* A line for each window: "URI START END TIME ROUNDS", in microseconds but for the time of an iteration. */
static void assert_windows(struct harness_output *output, int64_t end_ns, const char *expected)
{
	struct buffer notices, text;
	struct harness_result result = finish(output, end_ns, &notices);
	int64_t before_ns = 0;

	buffer_init(&text, 100000);
	for (size_t i = 0; i < result.window_count; i++) {
		const struct harness_window *window = &result.windows[i];

		assert_true(window->start_ns >= before_ns && window->end_ns > window->start_ns);
		before_ns = window->end_ns;
		buffer_printf(&text, "%s %" PRIi64 " %" PRIi64 " %gns x%" PRIu64 "\n", window->uri,
			window->start_ns / 1000, window->end_ns / 1000, window->measured.mean_ns,
			window->measured.rounds);
	}
	assert_string_equal(text.size > 0 ? text.data : "", expected);
	assert_int_equal(notices.size, 0);
	buffer_deinit(&text);
	buffer_deinit(&notices);
	free_result(&result);
}

/* ---- Recordings of real programs: each line is that of tests/data/output/record ---- */

struct recorded_line {
	int64_t time_ns;
	int stream;
	bool is_complete;
	char *text; /* borrowed from `line` */
	size_t size;
	char *line; /* owned */
};

static bool next_line(FILE *file, struct recorded_line *line)
{
	size_t capacity = 0;
	ssize_t size;
	int64_t time_us;
	char complete;
	int start;

	line->line = NULL;
	size = getline(&line->line, &capacity, file);
	if (size <= 0)
		return false;
	assert_int_equal(line->line[size - 1], '\n');
	assert_int_equal(sscanf(line->line, "%" SCNi64 " %d %c%n", &time_us, &line->stream, &complete, &start), 3);
	line->time_ns = time_us * 1000;
	line->stream--;
	line->is_complete = complete == '+';
	line->text = line->line + start + 1;
	line->size = (size_t)size - (size_t)start - 2;
	return true;
}

static FILE *open_recording(const char *name)
{
	char path[1000];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", RECORDINGS, name);
	file = fopen(path, "r");
	assert_non_null(file);
	return file;
}

static struct harness_output *read_recording(const char *name)
{
	struct harness_output *output = new_output();
	FILE *file = open_recording(name);
	struct recorded_line line;

	while (next_line(file, &line)) {
		harness_output_line(output, line.stream, line.text, line.size, line.time_ns, line.is_complete);
		free(line.line);
	}
	free(line.line);
	fclose(file);
	return output;
}

enum { AFTER_NS = 100 * 1000 * 1000 };

static void assert_recording(const char *name, const char *expected)
{
	assert_windows(read_recording(name), INT64_C(1000) * AFTER_NS, expected);
}

static void reads_go(void **state)
{
	assert_recording("go.txt", "suite::BenchmarkFib 176022 202215 2884ns x1\n"
				   "suite::BenchmarkFib-2 202215 227687 2752ns x1\n"
				   "suite::BenchmarkSort 229228 253728 36462ns x1\n"
				   "suite::BenchmarkSort-2 253728 279312 34875ns x1\n"
				   "suite::BenchmarkParse 279750 304864 8179ns x1\n"
				   "suite::BenchmarkParse-2 304864 330698 8044ns x1\n"
				   "suite::BenchmarkMap/keys=200 333242 373629 8625ns x1\n"
				   "suite::BenchmarkMap/keys=200-2 373629 397495 9446ns x1\n"
				   "suite::BenchmarkMap/keys=2000 397853 447656 47146ns x1\n"
				   "suite::BenchmarkMap/keys=2000-2 447656 500095 53015ns x1\n");
	assert_recording("go-verbose.txt", "suite::BenchmarkFib-2 191759 216292 2763ns x1\n"
					   "suite::BenchmarkFib-2 216292 241851 2756ns x1\n"
					   "suite::BenchmarkMap/keys=200-2 242404 287240 12132ns x1\n"
					   "suite::BenchmarkMap/keys=200-2 287240 332854 11941ns x1\n"
					   "suite::BenchmarkMap/keys=2000-2 332854 386888 63376ns x1\n"
					   "suite::BenchmarkMap/keys=2000-2 386888 440638 65635ns x1\n");
	assert_recording("go-packages.txt", "suite::BenchmarkFib-2 351869 378664 2902ns x1\n"
					    "suite::BenchmarkSort-2 379108 426524 33450ns x1\n"
					    "suite/one::BenchmarkFib-2 431691 473965 2754ns x1\n"
					    "suite/one::BenchmarkSort-2 474616 499967 36109ns x1\n"
					    "suite/two::BenchmarkFib-2 506041 533914 2871ns x1\n"
					    "suite/two::BenchmarkSort-2 534516 559652 35942ns x1\n");
	assert_recording("go-talks.txt", "suite::BenchmarkTalks-2 248885 297901 249.7ns x1\n"
					 "suite::BenchmarkSort-2 298369 346706 34790ns x1\n");
}

static void reads_google_benchmark(void **state)
{
	assert_recording("google.txt", "BM_fib 1729 92959 3123ns x1\n"
				       "BM_sort 92959 124304 28100ns x1\n"
				       "BM_parse 124304 174826 20000ns x1\n"
				       "BM_map/200 174826 220029 5381ns x1\n"
				       "BM_map/2000 220029 249015 19237ns x1\n");
	assert_recording("google-repetitions.txt", "BM_fib 1998 49459 1641ns x3\n"
						   "BM_sort 49459 112515 37400ns x3\n"
						   "BM_parse 112515 174997 27333.3ns x3\n");
	assert_recording("google-threads.txt",
		"BM_pair<std::pair<int, long>>/real_time/threads:1 2192 32317 1.46ns x1\n"
		"BM_pair<std::pair<int, long>>/real_time/threads:2 32317 49982 0.241ns x1\n"
		"BM_pair<std::pair<int, long>>/real_time/threads:4 49982 67554 0.16ns x1\n"
		"BM_label/8 67611 78333 0ns x0\n"
		"BM_label/64 78333 86524 0ns x0\n"
		"BM_label with spaces/8/iterations:100000/repeats:2 86524 86711 0.5495ns x2\n"
		"BM_label_mean/iterations:2 86711 87101 401ns x1\n");
}

static void reads_criterion(void **state)
{
	assert_recording("criterion.txt", "fib 100545 300060 1501.2ns x20\n"
					  "sort 428642 628672 24439ns x20\n"
					  "parse 767709 971349 7647.8ns x20\n"
					  "map/200 1123076 1323700 4531.4ns x20\n"
					  "map/2000 1465093 1668081 27673ns x20\n");
	assert_recording("criterion-again.txt", "fib 52576 254363 1562.2ns x20\n"
						"map/200 469613 687035 5185.3ns x20\n"
						"map/2000 901640 1109017 31936ns x20\n");
	assert_recording("criterion-quick.txt", "fib 1322 102234 1512.9ns x1\n");
	assert_recording("criterion-0.8.txt", "sort 67032 299132 37211ns x20\n"
					      "map/200 450727 636238 5923ns x20\n"
					      "map/2000 782576 995764 28535ns x20\n");
	assert_recording("criterion-cargo.txt", "benches/suite.rs::fib 286351 388370 1553.5ns x10\n");
}

/* A window for each process of a benchmark, from the end of its warm-up to that of its last iteration. */
static void reads_jmh(void **state)
{
	assert_recording("jmh.txt", "demo.Parse::upper[n = 10] 849106 1165594 175.44ns x3\n"
				    "demo.Parse::upper[n = 10] 1570390 1876969 187.853ns x3\n"
				    "demo.Parse::upper[n = 200] 2263342 2571751 3490.9ns x3\n"
				    "demo.Parse::upper[n = 200] 2963614 3273639 3858.75ns x3\n"
				    "demo.Parse::hash[n = 10] 3647159 3954897 74.598ns x3\n"
				    "demo.Parse::hash[n = 10] 4304799 4610063 73.2457ns x3\n"
				    "demo.Parse::hash[n = 200] 4916307 5224939 1649.25ns x3\n"
				    "demo.Parse::hash[n = 200] 5528516 5838590 1644.1ns x3\n"
				    "demo.Parse::lower[n = 10] 6167169 6475018 69.3333ns x3\n"
				    "demo.Parse::lower[n = 200] 6813092 7128317 1480ns x3\n");
}

static void reads_hyperfine(void **state)
{
	assert_recording("hyperfine.txt", "true 969 29901 4.9e+06ns x5\n"
					  "sleep 0.01 29901 100257 1.18e+07ns x5\n");
	assert_recording("hyperfine-color.txt", "sleep 0.01 117183 169590 1.55e+07ns x3\n");
}

/* ---- Lines ---- */

static void results_in_other_lines_are_of_what_began(void **state)
{
	struct harness_output *output = new_output();

	say(output, 1000, "pkg: a/b");
	say_so_far(output, 2000, "Bench");
	say_so_far(output, 3000, "BenchmarkTalks-2  \t");
	say_so_far(output, 4000, "BenchmarkTalks-2  \twork");
	say(output, 5000, "BenchmarkTalks-2  \tworking");
	say(output, 6000, "more work     100\t         5 ns/op");
	assert_windows(output, 10000, "a/b::BenchmarkTalks-2 3 6 5ns x1\n");
}

static void other_text_names_no_benchmark(void **state)
{
	static const char *const lines[] = { "", " ", "Benchmark 1", "Benchmark: x", "Benchmarks are fun",
		"Benchmarking", "Benchmarking ", "BenchmarkX 1 ns/op", "     100\t         5 ns/op",
		"x    1.0 ns    1.0 ns    10", "x   time:   [1 ns 2 ns 3 ns]", "  Time (mean):  1 ms",
		"  Range (x): 5 runs", "Benchmarkingx: Analyzing", "pkg: ", "     Running ()", "\033", "\033[", "\033]",
		"\r", "\033[1;31" };
	struct harness_output *output = new_output();

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		say(output, (int64_t)i * 1000, lines[i]);
	assert_windows(output, INT64_MAX, "");
}

static void escapes_and_what_a_return_overwrites_are_left_out(void **state)
{
	struct harness_output *output = new_output();

	say(output, 1000,
		"Benchmarking one\r\033[2KBenchmarking two: Collecting 10 samples in estimated 1 s (5 iterations)\r");
	say(output, 3000, "\033]8;;http://x\aBenchmarking two\033]8;;\033\\: Analyzing");
	say(output, 4000, "two   time:   [\033[1m1 ns\033[0m 2 ns 3 ns]\a");
	assert_windows(output, 10000, "two 1 3 2ns x10\n");
}

static void names_are_text(void **state)
{
	struct harness_output *output = new_output();

	say(output, 1000, "Benchmark 1: \xff\xf3\xa0\x80\x81 \xe2\x80\xae x");
	say(output, 2000, "  Time (mean):  1 ms");
	assert_windows(output, 10000, "\ufffd\ufffd \ufffd x 1 2 1e+06ns x1\n");
}

static void aggregates_are_no_benchmarks(void **state)
{
	struct harness_output *output = new_output();

	say(output, 1000, "Running ./x");
	say(output, 2000, "Benchmark      Time     CPU   Iterations");
	say(output, 2000, "a       10 ns      10 ns     100");
	say(output, 2000, "a       30 ns      10 ns     100");
	say(output, 2100, "a_mean  20 ns      10 ns       2");
	say(output, 2100, "a_x     20 ns      10 ns       2");
	say(output, 3000, "a_b     50 ns      10 ns       3");
	say(output, 4000, "a_b_c   60 ns      10 ns       1");
	assert_windows(output, 10000, "a 1 2 20ns x2\na_b 2 3 50ns x1\na_b_c 3 4 60ns x1\n");
}

static void the_time_of_an_iteration_has_an_error(void **state)
{
	struct harness_output *output = new_output();
	struct harness_result result;
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };

	say(output, 0, "Benchmark 1: x");
	say(output, 10000000,
		"  Time (mean \u00b1 \u03c3):     1.0 ms \u00b1   0.4 ms    [User: 0.6 ms, System: 0.0 ms]");
	say(output, 10000000, "  Range (min \u2026 max):     0.6 ms \u2026   8.0 ms    4 runs");
	say(output, 10000000, "Benchmarking y: Collecting 100 samples in estimated 5.0002 s (3.1M iterations)");
	say(output, 20000000, "Benchmarking y: Analyzing");
	say(output, 30000000, "y      time:   [1.0000 us 1.1960 us 1.3920 us]");
	result = finish(output, INT64_MAX, &notices);
	assert_int_equal(result.window_count, 2);
	assert_string_equal(result.integration, "hyperfine");
	assert_int_equal(result.windows[0].measured.rounds, 4);
	assert_int_equal(result.windows[0].measured.iterations, 10);
	assert_float_equal(result.windows[0].measured.stdev_ns, 4e5, 1);
	assert_float_equal(result.windows[0].measured.error_ns, 2e5, 1);
	assert_int_equal(result.windows[1].measured.iterations, 8361);
	assert_float_equal(result.windows[1].measured.error_ns, 100, 0.1);
	assert_float_equal(result.windows[1].measured.stdev_ns, 1000, 1);
	free_result(&result);
}

static void benchmarks_that_were_named_too_late_are_told(void **state)
{
	struct harness_output *output = new_output();
	struct harness_result result;
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };

	for (int i = 0; i < 3; i++)
		say(output, 1000, "BenchmarkX-2  \t  100\t   5 ns/op");
	result = finish(output, 10000, &notices);
	assert_int_equal(result.window_count, 0);
	assert_null(result.integration);
	assert_non_null(strstr(notices.data, "3 benchmarks are left out"));
}

/* Of a program that names more than are kept, the first are. */
static void there_may_be_many_benchmarks(void **state)
{
	struct harness_output *output = new_output();
	struct harness_result result;
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	char line[100];

	for (int i = 0; i < 100010; i++) {
		snprintf(line, sizeof(line), "BenchmarkX/%d \t  1\t  5 ns/op", i);
		say_so_far(output, i * 10, "BenchmarkX \t");
		say(output, i * 10 + 5, line);
	}
	result = finish(output, INT64_MAX, &notices);
	assert_int_equal(result.window_count, 100000);
	assert_string_equal(result.windows[99999].uri, "BenchmarkX/99999");
	assert_non_null(strstr(notices.data, "10 benchmarks are left out"));
	free_result(&result);
}

/* ---- Hostile input ---- */

static const char *const recordings[] = { "go.txt", "go-talks.txt", "google-threads.txt", "google-repetitions.txt",
	"criterion-again.txt", "criterion-cargo.txt", "hyperfine-color.txt", "jmh.txt" };

static void every_truncation_of_a_line_is_read(void **state)
{
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		struct harness_output *output = new_output();
		FILE *file = open_recording(recordings[i]);
		struct recorded_line line;
		struct harness_result result;
		CLEANUP(buffer_deinit) struct buffer notices = { 0 };

		while (next_line(file, &line)) {
			for (size_t size = 0; size <= line.size; size++) {
				/* Of its own size, so that a read past the end is seen. */
				CLEANUP(cleanup_free) char *text = malloc(size ? size : 1);

				memcpy(text, line.text, size);
				harness_output_line(output, line.stream, text, size, line.time_ns, size % 2 == 0);
			}
			free(line.line);
		}
		free(line.line);
		fclose(file);
		result = finish(output, INT64_MAX, &notices);
		free_result(&result);
	}
}

static void long_lines_are_cut(void **state)
{
	static char line[3 * HARNESS_LINE_BYTES];
	struct harness_output *output = new_output();
	struct harness_result result;
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };

	memset(line, 0xff, sizeof(line));
	memcpy(line, "Benchmark 1: ", 13);
	harness_output_line(output, 0, line, sizeof(line), 1000, true);
	say(output, 2000, "  Time (mean):  1 ms");
	result = finish(output, 10000, &notices);
	assert_int_equal(result.window_count, 1);
	free_result(&result);
}

static void running_out_of_memory_is_told(void **state)
{
	bool ok = false;

	for (size_t allocations = 0; !ok; allocations++) {
		struct harness_result result = { 0 };
		struct harness_output *output;
		CLEANUP(buffer_deinit) struct buffer notices = { 0 };
		struct error err;

		assert_true(allocations < 1000);
		buffer_init(&notices, 10000);
		failing_malloc_after(allocations);
		if (harness_output_create(&output, &err)) {
			say(output, 0, "pkg: x");
			say(output, 1000, "BenchmarkX-2  \t  100\t   5 ns/op");
			say(output, 2000, "BenchmarkX-2  \t  100\t   5 ns/op");
			ok = harness_output_finish(output, 10000, &result, &notices, &err);
			harness_output_destroy(output);
		}
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
		assert_int_equal(result.window_count, ok ? 2 : 0);
		free_result(&result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_go),
		cmocka_unit_test(reads_google_benchmark),
		cmocka_unit_test(reads_criterion),
		cmocka_unit_test(reads_hyperfine),
		cmocka_unit_test(reads_jmh),
		cmocka_unit_test(results_in_other_lines_are_of_what_began),
		cmocka_unit_test(other_text_names_no_benchmark),
		cmocka_unit_test(escapes_and_what_a_return_overwrites_are_left_out),
		cmocka_unit_test(names_are_text),
		cmocka_unit_test(aggregates_are_no_benchmarks),
		cmocka_unit_test(the_time_of_an_iteration_has_an_error),
		cmocka_unit_test(benchmarks_that_were_named_too_late_are_told),
		cmocka_unit_test(there_may_be_many_benchmarks),
		cmocka_unit_test(every_truncation_of_a_line_is_read),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(running_out_of_memory_is_told),
	};

	return cmocka_run_group_tests_name("harness.output", tests, NULL, NULL);
}
