/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/source_bounds.h"

#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Where the function ends that is defined at a line of the text. */
static uint32_t end_of(const char *text, uint32_t definition, uint32_t last_sampled)
{
	return profile_source_end(text, strlen(text), 1, definition, last_sampled);
}

static void functions_of_many_languages_end_with_their_last_line(void **state)
{
	static const struct {
		const char *text;
		uint32_t definition, last_sampled, end;
	} cases[] = {
		/* C as people and formatters write it */
		{ "int f(int n)\n{\n\tfor (;;) {\n\t\tn++;\n\t}\nout:\n\treturn n;\n}\n\nint g(void)\n{\n}\n", 1, 4,
			8 },
		{ "int f(int n) {\n#ifdef A\n  n++;\n#endif\n  return n;\n}\nint g;\n", 1, 3, 6 },
		{ "static int\nf (int n)\n{\n  return n;\n}\n", 2, 2, 5 },
		{ "int f(void) { return 1; }\nint g(void) { return 2; }\n", 1, 1, 1 },
		/* a method of a class */
		{ "struct S {\n  int f() {\n    return 1;\n  }\n  int g() {\n    return 2;\n  }\n};\n", 2, 3, 4 },
		{ "class S {\n  int f()\n  { return 1;\n  }\npublic:\n  int g();\n};\n", 2, 2, 4 },
		/* Rust: the head of the function has lines of its own */
		{ "fn f(\n    a: i32,\n) -> i32 {\n    a + 1\n}\n\nfn g() {}\n", 1, 1, 5 },
		/* Python, Ruby, JavaScript, Go */
		{ "def f(a):\n    x = 1\n\n# about g\n\ndef g():\n    pass\n", 1, 1, 2 },
		{ "def f(\n    a,\n):\n    return a\n\n\n@cached\ndef g():\n    pass\n", 1, 1, 4 },
		{ "class A\n  def f\n    1\n  end\n\n  def g\n  end\nend\n", 2, 3, 4 },
		{ "run(function () {\n  x();\n});\nrun();\n", 1, 2, 3 },
		{ "func f() {\n\tx()\n\tlast()\n}\n", 1, 3, 4 },
		/* the file ends before the function does */
		{ "int f(void)\n{\n\ta();\n\tb();\n", 1, 3, 4 },
		{ "def f():\n    a()\n    b()", 1, 2, 3 },
		/* lines that are not there */
		{ "int f(void)\n{\n}\n", 7, 9, 9 },
		{ "int f(void)\n{\n}\n", 1, 9, 9 },
		{ "", 1, 1, 1 },
		{ "", 0, 5, 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t end = end_of(cases[i].text, cases[i].definition, cases[i].last_sampled);

		if (end != cases[i].end)
			fail_msg("line %u instead of %u in '%s'", end, cases[i].end, cases[i].text);
	}
}

static void a_part_of_a_file_has_the_lines_of_the_file(void **state)
{
	static const char text[] = "int f(void)\n{\n\treturn 1;\n}\nint g;\n";

	assert_int_equal(profile_source_end(text, strlen(text), 100, 100, 102), 103);
	assert_int_equal(profile_source_end(text, strlen(text), 100, 99, 102), 102);
	assert_int_equal(
		profile_source_end(text, strlen(text), UINT32_MAX - 1, UINT32_MAX - 1, UINT32_MAX), UINT32_MAX);
}

/* However a text is cut, the end is at the last line that is known to be in the function, or behind it in the text. */
static void no_text_moves_the_end_out_of_it(void **state)
{
	static const char text[] = "a\n{\n\tb:\n}\r\n\xff\n\n)]\nend\n#\n x";
	enum { LINES = 10 };

	for (size_t size = 0; size < sizeof(text); size++)
		for (uint32_t definition = 0; definition <= LINES + 1; definition++)
			for (uint32_t last = definition; last <= LINES + 1; last++) {
				uint32_t end = profile_source_end(text, size, 1, definition, last);

				assert_true(end >= last && end <= LINES + 1);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_many_languages_end_with_their_last_line),
		cmocka_unit_test(a_part_of_a_file_has_the_lines_of_the_file),
		cmocka_unit_test(no_text_moves_the_end_out_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
