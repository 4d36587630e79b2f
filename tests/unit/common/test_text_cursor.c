/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/support/unit_test.h"

#include "common/text_cursor.h"

#include <stdlib.h>

static struct text_cursor of(const char *text)
{
	return text_over(text, strlen(text));
}

static void numbers_are_bounded(void **state)
{
	static const struct {
		const char *text;
		uint64_t most, number;
		size_t size; /* 0: refused */
	} cases[] = { { "0", 9, 0, 1 }, { "12x", 99, 12, 2 }, { "0012 ", 99, 12, 4 }, { "100", 99, 0, 0 },
		{ "", 9, 0, 0 }, { "x1", 9, 0, 0 }, { "-1", 9, 0, 0 }, { "+1", 9, 0, 0 }, { " 1", 9, 0, 0 },
		{ "/:", 9, 0, 0 }, { "18446744073709551615", UINT64_MAX, UINT64_MAX, 20 },
		{ "18446744073709551616", UINT64_MAX, 0, 0 }, { "99999999999999999999999", UINT64_MAX, 0, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_cursor text = of(cases[i].text);
		uint64_t number = 7;

		assert_int_equal(text_take_number(&text, cases[i].most, &number), cases[i].size > 0);
		assert_int_equal(text.at - cases[i].text, cases[i].size);
		assert_int_equal(number, cases[i].size > 0 ? cases[i].number : 7);
	}
}

static void hexadecimal_numbers_have_64_bits(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
		size_t size; /* 0: refused */
	} cases[] = { { "fF9g", 0xff9, 3 }, { "ffffffffffffffff ", UINT64_MAX, 16 },
		{ "0ffffffffffffffff", UINT64_MAX, 17 }, { "10000000000000000", 0, 0 }, { "", 0, 0 }, { "g", 0, 0 },
		{ "@`G/:", 0, 0 }, { "-1", 0, 0 }, { "0x1", 0, 1 }, { "\xc1", 0, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_cursor text = of(cases[i].text);
		uint64_t number = 7;

		assert_int_equal(text_take_hex(&text, &number), cases[i].size > 0);
		assert_int_equal(text.at - cases[i].text, cases[i].size);
		assert_int_equal(number, cases[i].size > 0 ? cases[i].number : 7);
	}
}

static void bytes_have_two_digits(void **state)
{
	static const char *const refused[] = { "", "a", "ag", "ga", " 1" };
	struct text_cursor text = of("7fA0b");
	uint8_t byte;

	assert_true(text_take_hex_byte(&text, &byte));
	assert_int_equal(byte, 0x7f);
	assert_true(text_take_hex_byte(&text, &byte));
	assert_int_equal(byte, 0xa0);
	assert_false(text_take_hex_byte(&text, &byte));
	assert_true(text_is(text, "b"));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		text = of(refused[i]);
		assert_false(text_take_hex_byte(&text, &byte));
		assert_true(text_is(text, refused[i]));
	}
}

static void words_end_at_separators(void **state)
{
	static const char bytes[] = "a\0b=c";
	struct text_cursor text = text_over(bytes, sizeof(bytes) - 1), word = text_take_word(&text, "=:");

	assert_int_equal(text_left(word), 3); /* a NUL is a byte like others */
	assert_true(text_is(text, "=c"));
	assert_int_equal(text_left(text_take_word(&text, "=:")), 0);
	assert_true(text_take_byte(&text, '='));
	assert_true(text_is(text_take_word(&text, "=:"), "c"));
	assert_int_equal(text_left(text), 0);
	assert_false(text_take_byte(&text, '\0'));
}

/* 1f-20 key=30 "x", as lines that the kernel writes. */
static bool take_line(struct text_cursor *text)
{
	uint64_t number;

	if (!text_take_hex(text, &number) || !text_take_byte(text, '-') || !text_take_hex(text, &number))
		return false;
	text_skip_blanks(text);
	return text_take_literal(text, "key=") && text_take_number(text, 30, &number) && text_take_byte(text, ' ') &&
	       text_take_literal(text, "\"x\"") && text_left(*text) == 0;
}

/* In memory that ends where the text does, so that a sanitizer sees what is read behind it. */
static void no_truncation_is_read_past(void **state)
{
	static const char line[] = "1f-20 \t key=30 \"x\"";

	for (size_t size = 0; size <= sizeof(line) - 1; size++) {
		char *copy = malloc(size + !size);
		struct text_cursor text = text_over(memcpy(copy, line, size), size);

		assert_int_equal(take_line(&text), size == sizeof(line) - 1);
		assert_true(text.at <= text.end);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_bounded),
		cmocka_unit_test(hexadecimal_numbers_have_64_bits),
		cmocka_unit_test(bytes_have_two_digits),
		cmocka_unit_test(words_end_at_separators),
		cmocka_unit_test(no_truncation_is_read_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
