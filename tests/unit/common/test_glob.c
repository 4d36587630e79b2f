/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <fnmatch.h>
#include <string.h>

/* All strings of up to `most` of the characters, in order; "" is number 0. */
static void string_of_number(size_t number, const char *characters, char *string)
{
	size_t base = strlen(characters);

	for (; number > 0; number = (number - 1) / base)
		*string++ = characters[(number - 1) % base];
	*string = '\0';
}

static void short_globs_match_what_fnmatch_says(void **state)
{
	enum { ALL_GLOBS = 19608, ALL_TEXTS = 121, MOST = 8 }; /* of up to 5 of 7, and of up to 4 of 3 characters */
	char glob[MOST], text[MOST];

	for (size_t i = 0; i < ALL_GLOBS; i++) {
		string_of_number(i, "ab*?[]\\", glob);
		for (size_t k = 0; k < ALL_TEXTS; k++) {
			string_of_number(k, "ab\xc3", text);
			if (glob_matches(glob, text) != (fnmatch(glob, text, 0) == 0))
				fail_msg("'%s' and '%s'", glob, text);
		}
	}
}

static void any_of_a_list_matches(void **state)
{
	static const char *const *const nothing = NULL;

	assert_true(glob_matches_any(GLOBS("lib*.so", "python[0-9]*", "*/gems/*"), "python3.11"));
	assert_true(glob_matches_any(GLOBS("lib*.so", "python[0-9]*", "*/gems/*"), "/var/lib/gems/x.so"));
	assert_false(glob_matches_any(GLOBS("lib*.so", "python[0-9]*", "*/gems/*"), "pythonic"));
	assert_false(glob_matches_any(nothing, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_globs_match_what_fnmatch_says),
		cmocka_unit_test(any_of_a_list_matches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
