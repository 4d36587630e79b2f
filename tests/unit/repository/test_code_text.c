/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/repository/code_text.h"

#include "tests/unit/support/unit_test.h"

#include <string.h>

static uint32_t line_of(const char *path, const char *line)
{
	struct code_text code = code_text_of(path);

	return code_text_line(&code, line, strlen(line));
}

static void test_blanks_and_comments(void **state)
{
	uint32_t plain = line_of("a.c", "total += value * i;");

	assert_int_not_equal(plain, 0);
	assert_int_equal(plain, line_of("a.c", "\t\ttotal+=value*i ;\r"));
	assert_int_equal(plain, line_of("a.c", "total += value * i; // a sum"));
	assert_int_equal(plain, line_of("a.c", "total += /* a sum */ value * i;"));
	assert_int_not_equal(plain, line_of("a.c", "total += value * j;"));
	assert_int_not_equal(line_of("a.c", "say(\"// no comment\");"), line_of("a.c", "say(\"// one\");"));
	assert_int_equal(line_of("a.py", "x = 1  # one"), line_of("a.py", "x = 1"));
	assert_int_not_equal(line_of("a.py", "x = '# 1'"), line_of("a.py", "x = '# 2'"));
	assert_int_not_equal(line_of("a.c", "#define A 1"), 0);
}

static void test_lines_that_say_nothing(void **state)
{
	static const char *const lines[] = { "", "   ", "}", "});", " * goes on", "// all of it", "/* all of it */",
		"*/" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(line_of("a.cpp", lines[i]), 0);
	assert_int_equal(line_of("a.py", "# all of it"), 0);
	assert_int_equal(line_of("a.py", "\"\"\"What it does.\"\"\""), 0);
	assert_int_not_equal(line_of("a.c", "*pointer = 3;"), 0);
}

/* Only a line of some length is the same code where it stands elsewhere. */
static void test_distinct_lines(void **state)
{
	assert_int_equal(line_of("a.c", "break;") & 1, 0);
	assert_int_not_equal(line_of("a.c", "break;"), 0);
	assert_int_equal(line_of("a.c", "hash = hash_bytes(table->names, size);") & 1, 1);
}

static void test_comments_of_many_lines(void **state)
{
	struct code_text code = code_text_of("a.c");

	assert_int_not_equal(code_text_line(&code, "int a; /* begins", 16), 0);
	assert_int_equal(code_text_line(&code, "goes on", 7), 0);
	assert_int_not_equal(code_text_line(&code, "ends */ int b;", 14), 0);
	assert_int_not_equal(code_text_line(&code, "int c;", 6), 0);
	code = code_text_of("a.py");
	assert_int_equal(code_text_line(&code, "    '''Begins,", 14), 0);
	assert_int_equal(code_text_line(&code, "goes on,", 8), 0);
	assert_int_equal(code_text_line(&code, "ends.'''", 8), 0);
	assert_int_not_equal(code_text_line(&code, "return 1", 8), 0);
}

/* Code that is laid out anew is the same as a whole. */
static void test_whole(void **state)
{
	struct code_text a = code_text_of("a.c"), b = code_text_of("a.c");

	code_text_line(&a, "int second(int value, int limit)", 32);
	code_text_line(&b, "int", 3);
	code_text_line(&b, "second(int value, // first", 26);
	code_text_line(&b, "       int limit)", 17);
	assert_true(a.all == b.all);
	code_text_line(&b, "{", 1);
	assert_false(a.all == b.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blanks_and_comments),
		cmocka_unit_test(test_lines_that_say_nothing),
		cmocka_unit_test(test_distinct_lines),
		cmocka_unit_test(test_comments_of_many_lines),
		cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
