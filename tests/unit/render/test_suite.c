/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suite_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <jansson.h>
#include <string.h>

enum { KINDS = SUITE_LARGE + 1, MARKDOWN_BYTES = 65536 };

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		fail_msg("line %d: %s", error.line, error.text);
	return json;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		count++;
	return count;
}

/* ---- Text ---- */

static void text_fits_every_width(void **state)
{
	for (int kind = 0; kind < SUITE_LARGE; kind++) {
		struct suite_fixture fixture;

		suite_fixture_create(&fixture, (enum suite_fixture_kind)kind);
		for (unsigned int width = 40; width <= 160; width += 3) {
			CLEANUP(cleanup_free) char *text = suite_fixture_text(&fixture, width, false);

			assert_null(strchr(text, '\033'));
			assert_null(strstr(text, "nan"));
			for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
				if (unicode_text_width(line) > width)
					fail_msg("wider than %u: %s", width, line);
		}
		suite_fixture_destroy(&fixture);
	}
}

/* What differs about the machines is read before anything is called slower. */
static void verdict_then_warnings_then_table(void **state)
{
	struct suite_fixture fixture;
	char *text, *warning, *table, *function;

	suite_fixture_create(&fixture, SUITE_PARSER);
	text = suite_fixture_text(&fixture, 100, false);
	warning = strstr(text, "the CPUs differ");
	table = strstr(text, "\nBenchmarks\n");
	function = strstr(text, "parse_number (json.c:");
	assert_ptr_equal(strstr(text, "Mixed: 1 of 34 benchmarks is slower"), text);
	assert_non_null(warning);
	assert_true(table > warning);
	assert_true(function > table);
	/* 300 ms more than 490 ms in each of 5 runs, which made 500,000 iterations together. */
	assert_non_null(strstr(function, "takes 1.61 times as long: +2.99 µs per iteration"));
	assert_non_null(strstr(function, "- memcpy (libc.so), called from check_utf8, takes 2.50 times as long"));
	free(text);
	suite_fixture_destroy(&fixture);
}

static void a_terminal_gets_some_and_a_file_all(void **state)
{
	struct suite_fixture fixture;
	CLEANUP(cleanup_free) char *some = NULL, *all = NULL;

	suite_fixture_create(&fixture, SUITE_PARSER);
	some = suite_fixture_text(&fixture, 100, false);
	all = suite_fixture_text(&fixture, 0, false);
	assert_int_equal(count_of(some, "  format["), 0);
	assert_non_null(strstr(some, "  and 30 unchanged\n"));
	assert_int_equal(count_of(all, "  format["), 30);
	assert_null(strstr(all, "and 30"));
	suite_fixture_destroy(&fixture);
}

static void a_terminal_gets_the_first_explanations(void **state)
{
	enum { PARTS = 8 };
	struct render_part parts[PARTS];
	struct suite_fixture fixture;
	CLEANUP(cleanup_free) char *some = NULL, *all = NULL;

	suite_fixture_create(&fixture, SUITE_PARSER);
	for (uint32_t i = 0; i < PARTS; i++)
		parts[i] = (struct render_part){ .benchmark = i, .input = fixture.parts[1].input };
	fixture.input.parts = parts;
	fixture.input.part_count = PARTS;
	some = suite_fixture_text(&fixture, 100, false);
	all = suite_fixture_text(&fixture, 0, false);
	assert_int_equal(count_of(some, "- parse_number ("), 5);
	assert_non_null(strstr(some, "The functions of 3 more benchmarks: --text FILE.\n"));
	assert_int_equal(count_of(all, "- parse_number ("), PARTS);
	suite_fixture_destroy(&fixture);
}

static void title_has_what_was_measured(void **state)
{
	struct suite_fixture fixture;
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	suite_fixture_create(&fixture, SUITE_PARSER);
	buffer_init(&title, 4096);
	render_benchmark_title(&fixture.suite, 0, &title);
	assert_string_equal(title.data,
		"benchmark tests/bench.cpp::parse[numbers]: 12.4 µs → 15.0 µs per iteration, +21.2 % (20.8 to 21.7 %), regressed");
	title.size = 0;
	render_benchmark_title(&fixture.suite, 5, &title);
	assert_string_equal(title.data, "benchmark tests/bench.cpp::parse[bom]: 1.50 ms per iteration");
	title.size = 0;
	fixture.suite.is_measured = false;
	render_benchmark_title(&fixture.suite, 0, &title);
	assert_string_equal(title.data, "benchmark tests/bench.cpp::parse[numbers]");
	suite_fixture_destroy(&fixture);
}

/* ---- JSON ---- */

static void json_is_valid_whatever_the_names(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct suite_fixture fixture;
		CLEANUP(cleanup_free) char *text = NULL;
		json_t *json;

		suite_fixture_create(&fixture, (enum suite_fixture_kind)kind);
		text = suite_fixture_json(&fixture);
		json = parse(text);
		assert_string_equal(json_string_value(json_object_get(json, "schema")),
			kind == SUITE_SINGLE ? "kelvin.report/1" : "kelvin.diff/1");
		assert_int_equal(json_array_size(json_object_get(json, "benchmarks")), fixture.suite.benchmark_count);
		assert_int_equal(json_array_size(json_object_get(json, "functions")), fixture.diffs[0]->function_count);
		json_decref(json);
		suite_fixture_destroy(&fixture);
	}
}

static void json_has_the_promised_members(void **state)
{
	struct suite_fixture fixture;
	json_t *json, *first, *added;
	CLEANUP(cleanup_free) char *text = NULL;

	suite_fixture_create(&fixture, SUITE_PARSER);
	text = suite_fixture_json(&fixture);
	json = parse(text);
	first = json_array_get(json_object_get(json, "benchmarks"), 0);
	added = json_array_get(json_object_get(json, "benchmarks"), 4);
	assert_string_equal(json_string_value(json_object_get(json, "verdict")), "mixed");
	assert_int_equal(json_array_size(json_object_get(json, "warnings")), 2);
	assert_string_equal(json_string_value(json_object_get(first, "name")), "parse[numbers]");
	assert_string_equal(json_string_value(json_object_get(first, "uri")), "tests/bench.cpp::parse[numbers]");
	assert_string_equal(json_string_value(json_object_get(first, "verdict")), "regressed");
	assert_float_equal(json_number_value(json_object_get(first, "base_ns")), 12400, 1e-6);
	assert_float_equal(json_number_value(json_object_get(first, "delta_pct")), 21.2, 1e-6);
	assert_float_equal(json_number_value(json_array_get(json_object_get(first, "ci"), 0)), 20.8, 1e-6);
	assert_float_equal(json_number_value(json_object_get(first, "q")), 0.004, 1e-9);
	assert_int_equal(json_integer_value(json_object_get(first, "head_rounds")), 240);
	assert_string_equal(json_string_value(json_array_get(json_object_get(first, "top"), 0)), "parse_number");
	assert_string_equal(json_string_value(json_object_get(added, "verdict")), "added");
	assert_true(json_is_null(json_object_get(added, "base_ns")));
	assert_true(json_is_null(json_object_get(added, "delta_pct")));
	assert_true(json_is_null(json_object_get(added, "ci")));
	json_decref(json);
	suite_fixture_destroy(&fixture);
}

/* Values that are no times have names without "_ns". */
static void json_names_values_by_what_they_are(void **state)
{
	struct suite_fixture fixture;
	json_t *json, *first;
	CLEANUP(cleanup_free) char *text = NULL;

	suite_fixture_create(&fixture, SUITE_PARSER);
	fixture.suite.is_measured = false;
	fixture.diffs[0]->is_time = false;
	text = suite_fixture_json(&fixture);
	json = parse(text);
	first = json_array_get(json_object_get(json, "benchmarks"), 0);
	assert_non_null(json_object_get(first, "base"));
	assert_null(json_object_get(first, "base_ns"));
	json_decref(json);
	suite_fixture_destroy(&fixture);
}

/* ---- Markdown ---- */

static void a_comment_fits_and_says_what_is_left_out(void **state)
{
	struct suite_fixture fixture;
	CLEANUP(cleanup_free) char *text = NULL;

	suite_fixture_create(&fixture, SUITE_LARGE);
	text = suite_fixture_markdown(&fixture);
	assert_true(strlen(text) <= MARKDOWN_BYTES);
	assert_ptr_equal(strstr(text, "<!-- kelvin-diff -->\n### Regressed"), text);
	assert_int_equal(count_of(text, "<details>"), count_of(text, "</details>"));
	assert_non_null(strstr(text, "\nand 3,"));
	assert_non_null(strstr(text, "6,000 benchmarks are unchanged"));
	assert_non_null(strstr(text, "parse&#95;number"));
	assert_non_null(strstr(text, "does not fit into a comment"));
	suite_fixture_destroy(&fixture);
}

static void names_cannot_write_markdown(void **state)
{
	struct suite_fixture fixture;
	CLEANUP(cleanup_free) char *text = NULL;

	suite_fixture_create(&fixture, SUITE_HOSTILE);
	text = suite_fixture_markdown(&fixture);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "@all"));
	assert_null(strchr(text, '\033'));
	assert_int_equal(count_of(text, "<!--"), 1);
	suite_fixture_destroy(&fixture);
}

static void one_side_has_no_comment(void **state)
{
	struct suite_fixture fixture;
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct error err;

	suite_fixture_create(&fixture, SUITE_SINGLE);
	buffer_init(&out, (size_t)1 << 20);
	assert_false(render_suite_markdown(&fixture.input, &out, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	suite_fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_fits_every_width),
		cmocka_unit_test(verdict_then_warnings_then_table),
		cmocka_unit_test(a_terminal_gets_some_and_a_file_all),
		cmocka_unit_test(a_terminal_gets_the_first_explanations),
		cmocka_unit_test(title_has_what_was_measured),
		cmocka_unit_test(json_is_valid_whatever_the_names),
		cmocka_unit_test(json_has_the_promised_members),
		cmocka_unit_test(json_names_values_by_what_they_are),
		cmocka_unit_test(a_comment_fits_and_says_what_is_left_out),
		cmocka_unit_test(names_cannot_write_markdown),
		cmocka_unit_test(one_side_has_no_comment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
