/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON values as text are what jansson prints. */
#include "render/json_text.h"
#include "tests/unit/support/unit_test.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { RANDOM_NUMBERS = 200000 };

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void expect_same(json_t *json, const struct buffer *text, size_t flags)
{
	char expected[512];
	size_t size = json_dumpb(json, expected, sizeof(expected), JSON_ENCODE_ANY | flags);

	json_decref(json);
	assert_in_range(size, 1, sizeof(expected));
	if (text->size != size || memcmp(text->data, expected, size) != 0)
		fail_msg("got %.*s, not %.*s", (int)text->size, text->data, (int)size, expected);
}

static void check_number(double value, struct buffer *text)
{
	text->size = 0;
	json_text_number(text, value);
	expect_same(json_real(value), text, JSON_REAL_PRECISION(12));
}

static void test_numbers(void **state)
{
	static const double special[] = { 0, -0.0, 1, -1, 10, 0.1, 0.0001, 0.00001, 9.9999999999949e-5,
		99999.9999999999999, 0.5, 1.5, 123456789012, 999999999999, 999999999999.5, 999999999999.4, 1e11, 1e12,
		1e15, 1e22, 1e300, 5e-324, 1.7976931348623157e308, 0.1234567890125, 1234567.890125, 4503599627370496.5,
		1e-4, 9.99999999999e-5, 0.00099999999999950004 };
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, 4096);
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		check_number(special[i], &text);
		check_number(-special[i], &text);
		check_number(nextafter(special[i], 0), &text);
		check_number(nextafter(special[i], INFINITY) < INFINITY ? nextafter(special[i], INFINITY) : 0, &text);
	}
	text.size = 0;
	json_text_number(&text, NAN);
	json_text_number(&text, INFINITY);
	assert_string_equal(text.data, "null,null");
}

/* Of every size, of the usual sizes, and such that the last digit hangs on what follows it. */
static void test_random_numbers(void **state)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, 4096);
	for (uint64_t i = 0; i < RANDOM_NUMBERS; i++) {
		uint64_t bits = mix(i);
		double any;

		memcpy(&any, &bits, sizeof(any));
		if (isfinite(any))
			check_number(any, &text);
		check_number(ldexp((double)(int64_t)bits, -(int)(mix(bits) % 80)), &text);
		check_number(((double)(bits % 1000000000000) + 0.5) / pow(10, (double)(mix(bits) % 15)), &text);
	}
}

static void test_integers(void **state)
{
	static const int64_t values[] = { 0, 1, -1, 9, 10, 1234567890123456789, INT64_MAX, INT64_MIN };
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, 4096);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		text.size = 0;
		json_text_integer(&text, values[i]);
		expect_same(json_integer(values[i]), &text, 0);
	}
}

static void test_strings(void **state)
{
	static const char *const values[] = { "", "main", "operator\"\" _x", "C:\\x", "a\tb\nc\x01\x1f",
		"naïve::größe<日本>", "a/b", "\U0001f525" };
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	json_t *back;

	buffer_init(&text, 4096);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		text.size = 0;
		json_text_string(&text, values[i]);
		expect_same(json_string(values[i]), &text, 0);
	}
	text.size = 0;
	json_text_string(&text, "bad\xff\xfe"
				"bytes");
	back = json_loads(text.data, JSON_DECODE_ANY, NULL);
	assert_non_null(back);
	json_decref(back);
}

/* What a terminal obeys or a reader does not see is escaped, and is the same text when it is read again. */
static void test_hidden(void **state)
{
	static const char name[] = "a\x7f"
				   "b\xc2\x9b"
				   "31mc\xe2\x80\xae"
				   "d\xf3\xa0\x80\x81é";
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	json_t *back;

	buffer_init(&text, 4096);
	json_text_string(&text, name);
	buffer_append_byte(&text, '\0');
	assert_string_equal(text.data, "\"a\\u007Fb\\u009B31mc\\u202Ed\\uDB40\\uDC01é\"");
	back = json_loads(text.data, JSON_DECODE_ANY, NULL);
	assert_string_equal(json_string_value(back), name);
	json_decref(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_random_numbers),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
