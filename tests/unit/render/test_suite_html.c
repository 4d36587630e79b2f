/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page_blocks.h"
#include "suite_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page_of(const struct render_suite *input)
{
	struct buffer out;
	struct error err = { 0 };

	buffer_init(&out, (size_t)256 << 20);
	if (!render_suite_html(input, &out, &err))
		fail_msg("%s", err.message);
	return out.data;
}

static const json_t *column_of(const json_t *list, size_t row, size_t column)
{
	return json_array_get(json_array_get(json_object_get(list, "rows"), row), column);
}

/* The number of the part that explains a row's benchmark; -1: there is none. */
static int part_of(const json_t *list, size_t row)
{
	const json_t *part = column_of(list, row, 13);

	return json_is_integer(part) ? (int)json_integer_value(part) : -1;
}

static void the_list_comes_first_and_every_part_behind_the_script(void **state)
{
	struct suite_fixture fixture;
	const char *script;
	json_t *list;
	CLEANUP(cleanup_free) char *page = NULL;

	suite_fixture_create(&fixture, SUITE_PARSER);
	page = page_of(&fixture.input);
	script = strstr(page, "<script>");
	assert_true(page_block_find(page, "benchmarks") < script);
	assert_true(page_block_find(page, "0-meta") > script &&
		    page_block_find(page, "1-tree") > page_block_find(page, "0-timeline"));
	assert_null(page_block_find(page, "meta"));
	list = page_block_json(page, "benchmarks");
	assert_int_equal(json_array_size(json_object_get(list, "rows")), fixture.suite.benchmark_count);
	assert_int_equal(json_integer_value(json_object_get(list, "all")), 0);
	assert_int_equal(part_of(list, 0), 1);
	assert_int_equal(part_of(list, 1), -1);
	assert_string_equal(json_string_value(json_object_get(list, "verdict")), "mixed");
	assert_string_equal(json_string_value(column_of(list, 0, 2)), "regressed");
	assert_string_equal(json_string_value(json_array_get(column_of(list, 0, 14), 0)), "parse_number");
	assert_true(json_is_null(column_of(list, 1, 14)));
	json_decref(list);
	suite_fixture_destroy(&fixture);
}

static void parts_without_room_are_left_out_and_told(void **state)
{
	struct suite_fixture fixture;
	json_t *list;
	char *page;

	suite_fixture_create(&fixture, SUITE_PARSER);
	fixture.input.max_page_bytes = 1;
	page = page_of(&fixture.input);
	list = page_block_json(page, "benchmarks");
	assert_null(page_block_find(page, "0-meta"));
	assert_null(page_block_find(page, "1-meta"));
	assert_true(json_is_null(json_object_get(list, "all")));
	assert_int_equal(part_of(list, 0), -1);
	assert_int_equal(json_integer_value(json_object_get(list, "leftOut")), 2);
	json_decref(list);
	free(page);

	/* The whole page without a part, and a few bytes more than the first part takes. */
	fixture.input.part_count = 1;
	fixture.input.max_page_bytes = 0;
	page = page_of(&fixture.input);
	fixture.input.part_count = 2;
	fixture.input.max_page_bytes = strlen(strstr(page, "id=\"data-0-meta\"")) + 100;
	free(page);
	page = page_of(&fixture.input);
	list = page_block_json(page, "benchmarks");
	assert_non_null(page_block_find(page, "0-timeline"));
	assert_null(page_block_find(page, "1-meta"));
	assert_int_equal(json_integer_value(json_object_get(list, "leftOut")), 1);
	assert_non_null(strstr(page, "</html>"));
	json_decref(list);
	free(page);
	suite_fixture_destroy(&fixture);
}

static void names_cannot_leave_their_block(void **state)
{
	struct suite_fixture fixture;
	json_t *list;
	CLEANUP(cleanup_free) char *page = NULL;

	suite_fixture_create(&fixture, SUITE_HOSTILE);
	page = page_of(&fixture.input);
	list = page_block_json(page, "benchmarks");
	assert_int_equal(json_array_size(json_object_get(list, "rows")), fixture.suite.benchmark_count);
	assert_null(strstr(page, "alert(1)"));
	json_decref(list);
	suite_fixture_destroy(&fixture);
}

static void one_side_has_no_verdicts(void **state)
{
	struct suite_fixture fixture;
	json_t *list, *row;
	CLEANUP(cleanup_free) char *page = NULL;

	suite_fixture_create(&fixture, SUITE_SINGLE);
	page = page_of(&fixture.input);
	list = page_block_json(page, "benchmarks");
	row = json_array_get(json_object_get(list, "rows"), 0);
	assert_int_equal(json_integer_value(json_object_get(list, "sides")), 1);
	assert_string_equal(json_string_value(json_object_get(list, "verdict")), "");
	assert_string_equal(json_string_value(json_array_get(row, 2)), "");
	assert_true(json_is_null(json_array_get(row, 3)));
	assert_int_equal(json_array_size(json_object_get(list, "recordings")), 1);
	json_decref(list);
	suite_fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_comes_first_and_every_part_behind_the_script),
		cmocka_unit_test(parts_without_room_are_left_out_and_told),
		cmocka_unit_test(names_cannot_leave_their_block),
		cmocka_unit_test(one_side_has_no_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
