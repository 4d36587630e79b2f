/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/expression.h"
#include "tests/unit/support/unit_test.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

static struct expression *made_of(const char *text, bool ignores_case)
{
	struct expression *made;
	struct error err;

	assert_true(expression_create(text, ignores_case, &made, &err));
	return made;
}

static bool matches(const char *pattern, const char *text)
{
	struct expression *made = made_of(pattern, false);
	bool result = expression_matches(made, text, strlen(text));

	expression_destroy(made);
	return result;
}

static void expect_refused(const char *pattern, const char *why)
{
	struct expression *made;
	struct error err;

	assert_false(expression_create(pattern, false, &made, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	assert_non_null(strstr(err.message, why));
}

static void it_matches_what_it_says(void **state)
{
	assert_true(matches("parse|scan", "rescan_all"));
	assert_true(matches("^operator\\(\\)$", "operator()"));
	assert_true(matches("a{2,3}b", "xaab"));
	assert_false(matches("^a{2,3}b", "aaaab"));
	assert_true(matches("(ab|a)(bc|c)$", "abc"));
	assert_true(matches("[^[:alnum:]_]", "std::sort"));
	assert_false(matches("[^[:alnum:]_]", "sort_9"));
	assert_true(matches("\\bmain\\b", "x main y"));
	assert_false(matches("\\bmain\\b", "domain"));
	assert_true(matches("", "anything"));
	assert_true(matches("()|b", "a"));
	assert_true(matches(")", "f()"));
	assert_true(matches("x*", ""));
}

static void what_is_none_is_refused(void **state)
{
	expect_refused("(a", "parenthesis");
	expect_refused("[a", "bracket");
	expect_refused("*a", "repetition");
	expect_refused("a{1", "braces");
	expect_refused("a{3,2}", "braces");
	expect_refused("a\\", "backslash");
	expect_refused("[[:none:]]", "class");
	expect_refused("[z-a]", "range");
	expect_refused("(a)\\1", "back reference");
}

/* Those that take the C library exponential time or memory, to compile or to match. */
static void none_explodes(void **state)
{
	static const char *const explosive[] = { "(a*)*b", "(a|aa)*b", "(a|a?)+b", "((a?){90}a{90})b", "(.*a){60}b",
		"(a|b)*a(a|b){60}c", "((a*)*)*b", "(x?){200}{4}b" };
	char text[4096], nested[2 * 190 + 2];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < sizeof(explosive) / sizeof(explosive[0]); i++) {
		struct expression *made = made_of(explosive[i], true);

		assert_false(expression_matches(made, text, sizeof(text)));
		expression_destroy(made);
	}
	expect_refused("((a{1,255}){1,255}){1,255}", "repeats too much");
	expect_refused("(((((x{99}){99}){99}){99}){99}){99}", "repeats too much");
	expect_refused("(x?){32767}", "repeats too much");
	assert_true(matches("(){32767}{32767}", ""));
	memset(nested, '(', 190);
	memset(nested + 190, ')', 190);
	nested[380] = '\0';
	assert_true(matches(nested, "a"));
	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_refused(text, "nested");
}

/*
 * Random ones against the C library's. That also refuses to repeat an assertion, allows a range that is empty, and
 * turns the ends of ranges into small letters where case is ignored.
 */
static void it_matches_what_the_c_library_does(void **state)
{
	static const char *const atoms[] = { "a", "b", "A", "_", " ", "(", ")", "|", "*", "+", "?", "{1,2}", "{2}",
		"{,2}", "{1,}", "[ab]", "[^a]", "[[:alpha:]]", "[]a]", "[a-c]", "^", "$", ".", "\\w", "\\W", "\\s",
		"\\b", "\\B", "\\<", "\\>", "\\.", "()", "(a|b)", "[[.a.]]", "}", "]", "\\`", "\\'" };
	static const char bytes[] = "abAB_ .{}]1";
	unsigned int seed = 114, compared = 0;

	for (int round = 0; round < 20000; round++) {
		bool ignores_case = rand_r(&seed) % 2;
		struct expression *made;
		char pattern[64] = "", text[9] = "";
		struct error ignored;
		regex_t expected;

		for (int i = rand_r(&seed) % 5; i >= 0; i--)
			strcat(pattern, atoms[(size_t)rand_r(&seed) % (sizeof(atoms) / sizeof(atoms[0]))]);
		for (int i = rand_r(&seed) % 8; i >= 0; i--)
			strncat(text, &bytes[(size_t)rand_r(&seed) % (sizeof(bytes) - 1)], 1);
		if (regcomp(&expected, pattern, REG_EXTENDED | REG_NOSUB | (ignores_case ? REG_ICASE : 0)) != 0)
			continue;
		if (expression_create(pattern, ignores_case, &made, &ignored)) {
			if (expression_matches(made, text, strlen(text)) != (regexec(&expected, text, 0, NULL, 0) == 0))
				fail_msg("'%s' and '%s'", pattern, text);
			compared++;
			expression_destroy(made);
		}
		regfree(&expected);
	}
	assert_in_range(compared, 8000, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_matches_what_it_says),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(none_explodes),
		cmocka_unit_test(it_matches_what_the_c_library_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
