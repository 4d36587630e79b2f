/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

static void expect(const char *text, struct wrap wrap, const char *wrapped)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };

	buffer_init(&out, 1 << 16);
	wrap_append(&out, text, &wrap);
	assert_false(out.failed);
	assert_string_equal(out.data, wrapped);
}

static void lines_are_broken_at_spaces(void **state)
{
	expect("", (struct wrap){ .width = 10 }, "\n");
	expect("one two three", (struct wrap){ .width = 13 }, "one two three\n");
	expect("one two three", (struct wrap){ .width = 12 }, "one two\nthree\n");
	expect("one two three", (struct wrap){ .width = 7, .indent = 2 }, "one two\n  three\n");
	expect("a /very/long/path b", (struct wrap){ .width = 6 }, "a\n/very/long/path\nb\n");
	expect("\xe4\xb8\x96\xe7\x95\x8c ab", (struct wrap){ .width = 6 }, "\xe4\xb8\x96\xe7\x95\x8c\nab\n");
	(void)state;
}

static void columns_stay_aligned(void **state)
{
	expect("  one   two", (struct wrap){ .width = 20, .indent = 4 }, "  one   two\n");
	expect("  one   two", (struct wrap){ .width = 10, .indent = 4 }, "  one\n    two\n");
	(void)state;
}

static void quoted_commands_and_percentages_are_one_word(void **state)
{
	expect("see `a b c` now", (struct wrap){ .width = 9 }, "see\n`a b c`\nnow\n");
	expect("see 'a b c', now", (struct wrap){ .width = 9 }, "see\n'a b c',\nnow\n");
	expect("see 'it's b', now", (struct wrap){ .width = 9 }, "see\n'it's b',\nnow\n");
	expect("a user's or Go's own", (struct wrap){ .width = 9 }, "a user's\nor Go's\nown\n");
	expect("see `a b c d e f` now", (struct wrap){ .width = 9 }, "see `a b\nc d e f`\nnow\n");
	expect("the 'a b", (struct wrap){ .width = 6 }, "the 'a\nb\n");
	expect("by +12.5 % or", (struct wrap){ .width = 8 }, "by\n+12.5 %\nor\n");
	(void)state;
}

static void lines_that_go_on_end_in_the_mark(void **state)
{
	expect("sudo one two", (struct wrap){ .width = 9, .indent = 2, .mark = " \\" }, "sudo \\\n  one \\\n  two\n");
	expect("sudo one", (struct wrap){ .width = 10, .mark = " \\" }, "sudo one\n");
	(void)state;
}

static void text_cannot_control_the_terminal(void **state)
{
	expect("a\x1b[2J\nb", (struct wrap){ .width = 40 },
		"a\xef\xbf\xbd[2J\xef\xbf\xbd"
		"b\n");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_broken_at_spaces),
		cmocka_unit_test(columns_stay_aligned),
		cmocka_unit_test(quoted_commands_and_percentages_are_one_word),
		cmocka_unit_test(lines_that_go_on_end_in_the_mark),
		cmocka_unit_test(text_cannot_control_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
