/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/json/reader.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_STRING_BYTES = 1 << 20, NUMBER_BYTES = 64 };

void json_reader_init(struct json_reader *json, const void *bytes, size_t size)
{
	*json = (struct json_reader){ .start = bytes, .at = bytes, .end = (const char *)bytes + size };
	buffer_init(&json->text, MAX_STRING_BYTES);
}

void json_reader_deinit(struct json_reader *json)
{
	buffer_deinit(&json->text);
}

bool json_reader_ok(const struct json_reader *json, struct error *err)
{
	if (!buffer_ok(&json->text, err))
		return false;
	return !json->failure ||
	       error_set(err, ERROR_FORMAT, "offset %zu: %s", (size_t)(json->at - json->start), json->failure);
}

void json_reader_fail(struct json_reader *json, const char *why)
{
	if (!json->failure)
		json->failure = why;
}

static void fail_syntax(struct json_reader *json)
{
	json_reader_fail(
		json, json->at == json->end ? "the JSON ends early: the file was cut short" : "this is no JSON");
}

/* '\0': the text has ended, or has such a byte, which is none of JSON. */
static char next_byte(const char *at, const char *end)
{
	if (at == end)
		return '\0';
	return *at;
}

char json_reader_peek(struct json_reader *json)
{
	while (json->at < json->end &&
		(*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
		json->at++;
	return next_byte(json->failure ? json->end : json->at, json->end);
}

static bool json_reader_take(struct json_reader *json, char wanted)
{
	if (json_reader_peek(json) != wanted)
		return false;
	json->at++;
	return true;
}

void json_reader_enter(struct json_reader *json, char bracket)
{
	if (!json_reader_take(json, bracket))
		fail_syntax(json);
}

/* Goes on to the next value of what was entered; false: it has ended. */
static bool json_reader_go_on(struct json_reader *json, char end)
{
	if (json_reader_take(json, end))
		return false;
	/* Behind the bracket there is no comma. */
	(void)!json_reader_take(json, ',');
	if (json_reader_peek(json) == '\0')
		fail_syntax(json);
	return !json->failure;
}

bool json_reader_item(struct json_reader *json)
{
	return json_reader_go_on(json, ']');
}

/* ---- Strings ---- */

static bool read_hex(struct json_reader *json, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, json->at++) {
		unsigned int digit = text_hex_digit(next_byte(json->at, json->end));

		if (digit > 15)
			return false;
		*code = *code * 16 + digit;
	}
	return true;
}

/* A character beyond 16 bits is two escapes; half of one, and NUL, become the character for what cannot be shown. */
static void json_reader_read_code(struct json_reader *json)
{
	enum { REPLACEMENT = 0xfffd };
	uint32_t code, low;

	if (!read_hex(json, &code)) {
		fail_syntax(json);
		return;
	}
	if (code >= 0xd800 && code < 0xdc00 && json->end - json->at >= 2 && memcmp(json->at, "\\u", 2) == 0) {
		json->at += 2;
		if (!read_hex(json, &low)) {
			fail_syntax(json);
			return;
		}
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT;
	}
	unicode_append(&json->text, code == 0 || (code >= 0xd800 && code < 0xe000) ? REPLACEMENT : code);
}

static void json_reader_read_escape(struct json_reader *json)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = next_byte(json->at, json->end);
	const char *name = c ? strchr(names, c) : NULL;

	json->at += c != '\0';
	if (c == 'u')
		json_reader_read_code(json);
	else if (name)
		buffer_append_byte(&json->text, (uint8_t)meant[name - names]);
	else
		fail_syntax(json);
}

static struct json_reader_string read_escaped(struct json_reader *json, const char *from)
{
	json->text.size = 0;
	buffer_append(&json->text, from, (size_t)(json->at - from));
	while (json->at < json->end && *json->at != '"' && !json->failure && !json->text.failed) {
		if (*json->at == '\\') {
			json->at++;
			json_reader_read_escape(json);
		} else {
			buffer_append_byte(&json->text, (uint8_t)*json->at++);
		}
	}
	return (struct json_reader_string){ json->text.data ? json->text.data : "", json->text.size };
}

static struct json_reader_string read_string(struct json_reader *json)
{
	const char *from;
	struct json_reader_string string;

	if (!json_reader_take(json, '"')) {
		fail_syntax(json);
		return (struct json_reader_string){ "", 0 };
	}
	from = json->at;
	while (json->at < json->end && *json->at != '"' && *json->at != '\\')
		json->at++;
	string = (struct json_reader_string){ from, (size_t)(json->at - from) };
	if (json->at < json->end && *json->at == '\\')
		string = read_escaped(json, from);
	if (json->at == json->end || json->failure)
		fail_syntax(json);
	else
		json->at++;
	return string;
}

bool json_reader_key(struct json_reader *json, struct json_reader_string *key)
{
	if (!json_reader_go_on(json, '}'))
		return false;
	*key = read_string(json);
	if (!json_reader_take(json, ':'))
		fail_syntax(json);
	return !json->failure && !json->text.failed;
}

/* ---- Values ---- */

static bool take_null(struct json_reader *json)
{
	if (json_reader_peek(json) != 'n' || json->end - json->at < 4 || memcmp(json->at, "null", 4) != 0)
		return false;
	json->at += 4;
	return true;
}

struct json_reader_string json_reader_text(struct json_reader *json)
{
	return take_null(json) ? (struct json_reader_string){ "", 0 } : read_string(json);
}

static size_t json_reader_number_size(const struct json_reader *json)
{
	size_t size = 0, most = (size_t)(json->end - json->at);

	while (size < most && size < NUMBER_BYTES && strchr("+-.eE0123456789", json->at[size]) && json->at[size])
		size++;
	return size;
}

/* Most numbers are a few digits, which take a tenth of the time this way. */
static bool read_small(struct json_reader *json, double *number)
{
	enum { MOST_DIGITS = 9 };
	const char *at = json->at, *most = json->end - json->at > MOST_DIGITS ? json->at + MOST_DIGITS : json->end;
	uint32_t value = 0;

	while (at < most && *at >= '0' && *at <= '9')
		value = value * 10 + (uint32_t)(*at++ - '0');
	if (at == json->at || at == json->end || (*at != ',' && *at != ']' && *at != '}'))
		return false;
	json->at = at;
	*number = value;
	return true;
}

double json_reader_number(struct json_reader *json)
{
	char digits[NUMBER_BYTES + 1], *end;
	double number;
	size_t size;

	if (take_null(json))
		return 0;
	(void)json_reader_peek(json);
	if (!json->failure && read_small(json, &number))
		return number;
	size = json_reader_number_size(json);
	memcpy(digits, json->at, size);
	digits[size] = '\0';
	number = strtod(digits, &end);
	if (size == 0 || end != digits + size || !isfinite(number)) {
		fail_syntax(json);
		return 0;
	}
	json->at += size;
	return number;
}

int64_t json_reader_integer(struct json_reader *json)
{
	static const double most = 9.2e18;
	double number = json_reader_number(json);

	if (number > -most && number < most)
		return llround(number);
	json_reader_fail(json, "the number is too large");
	return 0;
}

/* Passes over a number, true, false or null. */
static void json_reader_skip_word(struct json_reader *json)
{
	const char *from = json->at;

	while (json->at<json->end && * json->at> ' ' && !strchr("{}[],:\"", *json->at))
		json->at++;
	if (json->at == from)
		fail_syntax(json);
}

void json_reader_skip(struct json_reader *json)
{
	size_t depth = 0;

	do {
		char c = json_reader_peek(json);

		if (c == '"') {
			(void)read_string(json);
		} else if (c == '{' || c == '[') {
			json->at++;
			depth++;
		} else if (depth > 0 && (c == '}' || c == ']')) {
			json->at++;
			depth--;
		} else if (depth > 0 && (c == ',' || c == ':')) {
			json->at++;
		} else {
			json_reader_skip_word(json);
		}
	} while (depth > 0 && !json->failure && !json->text.failed);
}
