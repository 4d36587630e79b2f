/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/source_answer.h"
#include "symbolize/source_places.h"
#include "symbolize/source_text.h"

#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const char program[] = "#include <a.h>\n" /* 1 */
			      "\n"
			      "/* Above. */\n"
			      "static int f(int a)\n"
			      "{\n" /* 5 */
			      "\tif (a)\n"
			      "\t\treturn 1;\n"
			      "\n"
			      "\treturn 0;\n"
			      "}\n" /* 10 */
			      "\n"
			      "int g(void)\n"
			      "{\n"
			      "\treturn f(1);\n"
			      "}\n";

/* ---- Lines ---- */

/* "FIRST:TEXT"; "" for nothing. */
static void expect_cut(const char *text, size_t size, const struct source_range *range, const char *expected)
{
	CLEANUP(source_lines_deinit) struct source_lines lines = { 0 };
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	char number[16];
	uint32_t first = 0;
	struct error err;

	buffer_init(&out, 1 << 20);
	assert_true(source_lines_init(&lines, text, size, &err));
	source_lines_cut(&lines, range, &first, &out);
	snprintf(number, sizeof(number), "%u:", first);
	if (expected[0] == '\0') {
		assert_int_equal(out.size, 0);
		return;
	}
	assert_memory_equal(expected, number, strlen(number));
	assert_int_equal(out.size, strlen(expected) - strlen(number));
	assert_memory_equal(out.data, expected + strlen(number), out.size);
}

static void a_function_is_kept_from_two_lines_above_to_its_end(void **state)
{
	expect_cut(program, strlen(program), &(struct source_range){ .definition = 4, .first = 6, .last = 6 },
		"2:\n/* Above. */\nstatic int f(int a)\n{\n\tif (a)\n\t\treturn 1;\n\n\treturn 0;\n}");
	/* A function of which only the definition is known. */
	expect_cut(program, strlen(program), &(struct source_range){ .definition = 12 },
		"10:}\n\nint g(void)\n{\n\treturn f(1);\n}");
}

static void lines_of_other_code_are_kept_with_those_around(void **state)
{
	expect_cut(program, strlen(program), &(struct source_range){ .first = 14, .last = 14, .is_window = true },
		"9:\treturn 0;\n}\n\nint g(void)\n{\n\treturn f(1);\n}");
}

static void without_a_definition_lines_before_are_kept(void **state)
{
	expect_cut(program, strlen(program), &(struct source_range){ .definition = 12, .first = 2, .last = 12 },
		"1:#include <a.h>\n\n/* Above. */\nstatic int f(int a)\n{\n\tif (a)\n\t\treturn 1;\n\n\treturn 0;\n}\n\nint g(void)\n"
		"{\n\treturn f(1);\n}");
}

static void what_is_not_there_is_not_kept(void **state)
{
	expect_cut(program, strlen(program), &(struct source_range){ .definition = 4, .first = 16, .last = 16 }, "");
	expect_cut(program, strlen(program),
		&(struct source_range){ .definition = UINT32_MAX, .first = UINT32_MAX, .last = UINT32_MAX }, "");
	expect_cut("a\nb\0c\nd", 7, &(struct source_range){ .definition = 1, .first = 2, .last = 2 }, "");
	expect_cut("", 0, &(struct source_range){ .definition = 1 }, "");
}

static void long_lines_are_cut(void **state)
{
	enum { BYTES = 100000 };
	CLEANUP(cleanup_free) char *text = malloc(BYTES), *expected = calloc(1, SOURCE_MAX_LINE_BYTES + 3);

	memset(text, 'x', BYTES);
	memcpy(expected, "1:", 2);
	memset(expected + 2, 'x', SOURCE_MAX_LINE_BYTES);
	expect_cut(text, BYTES, &(struct source_range){ .definition = 1, .first = 1, .last = 1 }, expected);
}

/* ---- Answers ---- */

struct answers {
	struct source_range ranges[3];
	struct source_wanted files[2];
	struct source_plan plan;
	bool is_asked[2];
	struct buffer bytes;
};

static void answers_init(struct answers *a)
{
	*a = (struct answers){ .ranges = { { .weight = 5 }, { .weight = 9, .is_window = true }, { .weight = 7 } },
		.is_asked = { true, true } };
	a->files[0] = (struct source_wanted){ .name = (char *)"/a", .ranges = a->ranges, .range_count = 2 };
	a->files[1] = (struct source_wanted){ .name = (char *)"/b", .ranges = a->ranges + 2, .range_count = 1 };
	a->plan = (struct source_plan){ a->files, a->ranges, 2, 3 };
	buffer_init(&a->bytes, 1 << 16);
}

static void answers_deinit(struct answers *a)
{
	buffer_deinit(&a->bytes);
}

static void put_answer(struct answers *a, uint32_t file, uint32_t piece_count)
{
	buffer_append(&a->bytes, &(struct source_answer){ .file = file, .piece_count = piece_count },
		sizeof(struct source_answer));
}

static void put_piece(struct answers *a, uint32_t range, uint32_t first_line, const char *text, uint32_t bytes)
{
	buffer_append(&a->bytes, &(struct source_piece){ range, first_line, bytes }, sizeof(struct source_piece));
	buffer_append(&a->bytes, text, bytes);
}

static void expect_taken(struct answers *a, size_t size, size_t pieces)
{
	CLEANUP(source_read_deinit) struct source_read read = { 0 };
	struct error err;

	assert_true(source_read_init(&read, &a->plan, &err));
	assert_true(source_read_take(&read, &a->plan, a->is_asked, byte_reader_over(a->bytes.data, size), &err));
	assert_int_equal(read.taken_count, pieces);
}

static void put_two_files(struct answers *a)
{
	put_answer(a, 1, 1);
	put_piece(a, 0, 12, "text", 4);
	put_answer(a, 0, 2);
	put_piece(a, 1, 1, "more\ntext", 9);
	put_piece(a, 0, 2, "t", 1);
}

static void whole_answers_are_taken(void **state)
{
	CLEANUP(answers_deinit) struct answers a;
	size_t first = sizeof(struct source_answer) + sizeof(struct source_piece) + 4;

	answers_init(&a);
	put_two_files(&a);
	for (size_t size = 0; size <= a.bytes.size; size++)
		expect_taken(&a, size, size < first ? 0 : size < a.bytes.size ? 1 : 3);
}

static void what_no_reader_says_is_not_taken(void **state)
{
	static const struct {
		uint32_t file, count, range, line;
		const char *text;
		uint32_t bytes;
	} cases[] = {
		{ 2, 1, 0, 1, "t", 1 }, /* no file */
		{ 0, 3, 0, 1, "t", 1 }, /* more pieces than ranges */
		{ 0, UINT32_MAX, 0, 1, "t", 1 },
		{ 0, 1, 2, 1, "t", 1 },    /* no range of the file */
		{ 0, 1, 0, 0, "t", 1 },    /* no line */
		{ 0, 1, 0, 1, "t\0t", 3 }, /* no text */
		{ 0, 1, 0, 1, "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(answers_deinit) struct answers a;

		answers_init(&a);
		put_answer(&a, cases[i].file, cases[i].count);
		put_piece(&a, cases[i].range, cases[i].line, cases[i].text, cases[i].bytes);
		put_two_files(&a);
		expect_taken(&a, a.bytes.size, 0);
	}
}

static void a_reader_speaks_for_its_own_files_once(void **state)
{
	CLEANUP(answers_deinit) struct answers a;

	answers_init(&a);
	put_two_files(&a);
	put_two_files(&a);
	expect_taken(&a, a.bytes.size, 3);
	a.is_asked[1] = false;
	expect_taken(&a, a.bytes.size, 0);
}

/* ---- Places ---- */

static void places_have_in_common_what_both_have(void **state)
{
	const struct source_place a = { 7, 100, 1000, true, true, true }, b = { 7, 50, 1001, true, true, false },
				  c = { 8, 70, 1000, true, false, true };
	struct source_place joined = source_place_join(&a, &b);

	assert_int_equal(joined.tree, 7);
	assert_int_equal(joined.start_ns, 50);
	assert_false(joined.is_user_known);
	assert_false(joined.is_root_built);
	joined = source_place_join(&a, &c);
	assert_int_equal(joined.tree, 0);
	assert_true(joined.is_user_known);
	assert_int_equal(joined.user, 1000);
	assert_false(joined.has_stayed);
	/* Once unknown, it stays so. */
	joined = source_place_join(&b, &c);
	joined = source_place_join(&joined, &b);
	assert_false(joined.is_user_known);
	assert_int_equal(joined.tree, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_kept_from_two_lines_above_to_its_end),
		cmocka_unit_test(lines_of_other_code_are_kept_with_those_around),
		cmocka_unit_test(without_a_definition_lines_before_are_kept),
		cmocka_unit_test(what_is_not_there_is_not_kept),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(whole_answers_are_taken),
		cmocka_unit_test(what_no_reader_says_is_not_taken),
		cmocka_unit_test(a_reader_speaks_for_its_own_files_once),
		cmocka_unit_test(places_have_in_common_what_both_have),
	};

	return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
