/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/json/reader.h"

#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct json_reader over(const char *text)
{
	struct json_reader json;

	json_reader_init(&json, text, strlen(text));
	return json;
}

static void values_are_read(void **state)
{
	struct json_reader json = over(" { \"a\" : [ 1 , -2.5e1, null, 12345678901234 ] ,\n\"s\":\"x\\ty\", \"skip\":"
				       "{\"b\":[[],{}, \"]}\\\"\", true]},\"n\":null}\n");
	struct json_reader_string key;
	struct error err;
	double sum = 0;
	int members = 0;

	(void)state;
	json_reader_enter(&json, '{');
	while (json_reader_key(&json, &key)) {
		members++;
		if (json_reader_is(key, "a")) {
			json_reader_enter(&json, '[');
			while (json_reader_item(&json))
				sum += json_reader_number(&json);
		} else if (json_reader_is(key, "s")) {
			assert_true(json_reader_is(json_reader_text(&json), "x\ty"));
		} else if (json_reader_is(key, "n")) {
			assert_int_equal(json_reader_text(&json).size, 0);
		} else {
			json_reader_skip(&json);
		}
	}
	assert_true(json_reader_ok(&json, &err));
	assert_int_equal(members, 4);
	assert_true(sum == 1 - 25 + 12345678901234.0);
	json_reader_deinit(&json);
}

static void escapes_become_utf8(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "\"\"", "" },
		{ "\"caf\xc3\xa9\"", "caf\xc3\xa9" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
		{ "\"a\\u0041\\u00e9\\u20AC\"", "aA\xc3\xa9\xe2\x82\xac" },
		{ "\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!" },
		{ "\"\\ud83d\\u0041\\ude00\\u0000\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_reader json = over(cases[i].text);
		struct json_reader_string text = json_reader_text(&json);
		struct error err;

		assert_true(json_reader_ok(&json, &err));
		if (!json_reader_is(text, cases[i].expected))
			fail_msg("'%.*s' of %s", (int)text.size, text.text, cases[i].text);
		json_reader_deinit(&json);
	}
}

/* Whatever is wrong, reading ends, and the offset is told. */
static void what_is_wrong_ends_the_reading(void **state)
{
	static const char *const texts[] = { "", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\" 1}", "[1}",
		"{\"a\":x}", "{\"a\":1e999}", "{\"a\":--1}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\\",
		"{\"a\":\"\\ud83d\\u1\"}", "{\"a\":[1,2", "{\"a\":\001}", "{\"skip\":[\001]}", "{\"skip\":[[[[",
		"{\"skip\":}", "{\"skip\":,}", "{\"skip\"", "{a:1}" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct json_reader json = over(texts[i]);
		struct json_reader_string key;
		struct error err;

		json_reader_enter(&json, '{');
		while (json_reader_key(&json, &key)) {
			if (json_reader_is(key, "skip"))
				json_reader_skip(&json);
			else if (json_reader_peek(&json) == '"')
				(void)json_reader_text(&json);
			else
				(void)json_reader_number(&json);
		}
		if (json_reader_ok(&json, &err))
			fail_msg("accepted: %s", texts[i]);
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_non_null(strstr(err.message, "offset "));
		json_reader_deinit(&json);
	}
}

static void deep_nesting_is_skipped(void **state)
{
	enum { DEPTH = 1 << 20 };
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct json_reader json;
	struct error err;

	(void)state;
	buffer_init(&text, (size_t)4 * DEPTH);
	for (int i = 0; i < DEPTH; i++)
		buffer_append_byte(&text, '[');
	for (int i = 0; i < DEPTH; i++)
		buffer_append_byte(&text, ']');
	json_reader_init(&json, text.data, text.size);
	json_reader_skip(&json);
	assert_true(json_reader_ok(&json, &err));
	json_reader_deinit(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(escapes_become_utf8),
		cmocka_unit_test(what_is_wrong_ends_the_reading),
		cmocka_unit_test(deep_nesting_is_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
