/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 12, MAX_NUMBER_BYTES = 32, MAX_POWER = 27 };

static bool json_text_is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void append_escape(struct buffer *out, uint32_t code)
{
	if (code > 0xffff) {
		buffer_printf(out, "\\u%04" PRIX32, 0xd7c0 + (code >> 10));
		code = 0xdc00 | (code & 0x3ff);
	}
	buffer_printf(out, "\\u%04" PRIX32, code);
}

int json_text_write(const char *bytes, size_t size, void *context)
{
	struct buffer *out = context;
	size_t done = 0;

	for (size_t at = 0; at < size; at++) {
		const char *next = bytes + at;
		uint32_t code;

		if ((unsigned char)bytes[at] < 0x7f)
			continue;
		code = unicode_next(&next);
		if (code != unicode_clean(code)) {
			buffer_append(out, bytes + done, at - done);
			append_escape(out, code);
			done = (size_t)(next - bytes);
		}
		at = (size_t)(next - bytes) - 1;
	}
	buffer_append(out, bytes + done, size - done);
	return out->failed ? -1 : 0;
}

static json_t *json_valid_string(const char *text)
{
	CLEANUP(buffer_deinit) struct buffer valid = { 0 };
	json_t *json = json_string(text);

	if (json)
		return json;
	buffer_init(&valid, (size_t)256 << 20);
	for (uint32_t code; (code = unicode_next(&text)) != 0;)
		unicode_append(&valid, code);
	return valid.failed || !valid.data ? NULL : json_string(valid.data);
}

static bool append_special(struct buffer *out, const char *text)
{
	json_t *json = json_valid_string(text);
	bool ok = json && json_dump_callback(json, json_text_write, out, JSON_ENCODE_ANY) == 0;

	json_decref(json);
	return ok;
}

/* Returns whether a value or a key is one more of its object or array. */
static bool needs_comma(const struct buffer *out)
{
	if (out->size == 0)
		return false;
	switch (out->data[out->size - 1]) {
	case '{':
	case '[':
	case ':':
	case ',':
	case ' ':
	case '\n':
		return false;
	}
	return true;
}

static void put_comma(struct buffer *out)
{
	if (needs_comma(out))
		buffer_append_byte(out, ',');
}

void json_text_open(struct buffer *out, char bracket)
{
	put_comma(out);
	buffer_append_byte(out, (uint8_t)bracket);
}

void json_text_begin(struct buffer *out, const char *key, char bracket)
{
	json_text_key(out, key);
	json_text_open(out, bracket);
}

void json_text_close(struct buffer *out, char bracket)
{
	buffer_append_byte(out, (uint8_t)bracket);
}

void json_text_line(struct buffer *out, size_t indent)
{
	put_comma(out);
	buffer_printf(out, "\n%*s", (int)indent, "");
}

void json_text_list(struct buffer *out, const char *key)
{
	json_text_line(out, 1);
	json_text_key(out, key);
	buffer_append_string(out, " [");
}

void json_text_end_list(struct buffer *out)
{
	bool is_empty = out->size > 0 && out->data[out->size - 1] == '[';

	buffer_append_string(out, is_empty ? "]" : "\n ]");
}

void json_text_left_out(struct buffer *out, const char *key, size_t count)
{
	if (count == 0)
		return;
	json_text_line(out, 1);
	buffer_printf(out, "\"%s_left_out\": %zu", key, count);
}

/* Appends plain text in quotes, and what follows it, at once: most of a document is that. */
static void put_quoted(struct buffer *out, const char *text, size_t size, const char *after)
{
	size_t after_size = strlen(after), comma = needs_comma(out);
	char *to = buffer_reserve(out, comma + size + 2 + after_size);

	if (!to)
		return;
	to[0] = ',';
	to += comma;
	to[0] = '"';
	memcpy(to + 1, text, size);
	to[size + 1] = '"';
	memcpy(to + size + 2, after, after_size);
	buffer_commit(out, comma + size + 2 + after_size);
}

void json_text_word(struct buffer *out, const char *word)
{
	put_quoted(out, word, strlen(word), "");
}

void json_text_key(struct buffer *out, const char *key)
{
	put_quoted(out, key, strlen(key), ":");
}

void json_text_string(struct buffer *out, const char *text)
{
	size_t size = 0;

	text = text ? text : "";
	while (json_text_is_plain((unsigned char)text[size]))
		size++;
	if (text[size] == '\0') {
		put_quoted(out, text, size, "");
		return;
	}
	put_comma(out);
	if (!append_special(out, text))
		out->failed = true;
}

void json_text_null(struct buffer *out)
{
	put_comma(out);
	buffer_append_string(out, "null");
}

void json_text_whole(struct buffer *out, double value)
{
	if (isfinite(value) && fabs(value) < 9e18)
		json_text_integer(out, llround(value));
	else
		json_text_number(out, value);
}

void json_text_member(struct buffer *out, const char *key, const char *text)
{
	json_text_key(out, key);
	json_text_string(out, text);
}

void json_text_member_if(struct buffer *out, const char *key, const char *text)
{
	json_text_key(out, key);
	if (text[0])
		json_text_string(out, text);
	else
		json_text_null(out);
}

void json_text_member_word(struct buffer *out, const char *key, const char *word)
{
	json_text_key(out, key);
	json_text_word(out, word);
}

void json_text_member_number(struct buffer *out, const char *key, double value)
{
	json_text_key(out, key);
	json_text_number(out, value);
}

void json_text_member_whole(struct buffer *out, const char *key, double value)
{
	json_text_key(out, key);
	json_text_whole(out, value);
}

void json_text_member_integer(struct buffer *out, const char *key, int64_t value)
{
	json_text_key(out, key);
	json_text_integer(out, value);
}

void json_text_member_null(struct buffer *out, const char *key)
{
	json_text_key(out, key);
	json_text_null(out);
}

void json_text_member_known(struct buffer *out, const char *key, bool is_known, int64_t value)
{
	if (is_known)
		json_text_member_integer(out, key, value);
	else
		json_text_member_null(out, key);
}

void json_text_flag(struct buffer *out, const char *key, bool value)
{
	json_text_key(out, key);
	buffer_append_string(out, value ? "true" : "false");
}

void json_text_member_pair(struct buffer *out, const char *key, double first, double second)
{
	json_text_begin(out, key, '[');
	json_text_number(out, first);
	json_text_number(out, second);
	json_text_close(out, ']');
}

void json_text_member_interval(struct buffer *out, const char *key, double low, double high)
{
	if (isfinite(low) && isfinite(high))
		json_text_member_pair(out, key, low, high);
	else
		json_text_member_null(out, key);
}

void json_text_integer(struct buffer *out, int64_t value)
{
	char text[MAX_NUMBER_BYTES], *pos = text + sizeof(text);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	put_comma(out);
	do {
		*--pos = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (value < 0)
		*--pos = '-';
	buffer_append(out, pos, (size_t)(text + sizeof(text) - pos));
}

/*
 * Finds the twelve digits of a positive value, as a number from 10^11 to 10^12 - 1, and its decimal exponent. False if
 * the last digit is not certain: the product of a double and a power of ten has an error below 2^-22 here, which
 * decides the rounding unless the rest is that close to one half.
 */
static bool find_digits(double value, uint64_t *digits, int *exponent)
{
	static const long double powers[MAX_POWER + 1] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L,
		1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L,
		1e25L, 1e26L, 1e27L };
	static const long double log10_of_2 = 0.30102999566398119521L, doubt = 0x1p-20L;
	int binary, power;
	long double scaled, rest;

	(void)frexp(value, &binary);
	/* The estimate is at most one too large. */
	*exponent = (int)floorl((long double)binary * log10_of_2);
	for (int tries = 0; tries < 2; tries++, --*exponent) {
		power = DIGITS - 1 - *exponent;
		if (power > MAX_POWER || power < -MAX_POWER)
			return false;
		scaled = power >= 0 ? value * powers[power] : value / powers[-power];
		if (scaled >= powers[DIGITS - 1])
			break;
	}
	*digits = (uint64_t)scaled;
	rest = scaled - (long double)*digits;
	*digits += rest > 0.5L;
	return scaled >= powers[DIGITS - 1] && *digits < 1000000000000 && fabsl(rest - 0.5L) > doubt;
}

static void append_by_printf(struct buffer *out, double value)
{
	json_t *json = json_real(value);

	if (!json || json_dump_callback(json, json_text_write, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS)) != 0)
		out->failed = true;
	json_decref(json);
}

void json_text_number(struct buffer *out, double value)
{
	char text[MAX_NUMBER_BYTES], digits[DIGITS];
	size_t count = DIGITS, size = 0;
	uint64_t left;
	int exponent;

	if (!isfinite(value)) {
		json_text_null(out);
		return;
	}
	put_comma(out);
	if (value == 0) {
		buffer_append_string(out, signbit(value) ? "-0.0" : "0.0");
		return;
	}
	if (!find_digits(fabs(value), &left, &exponent) || exponent < -4 || exponent >= DIGITS) {
		append_by_printf(out, value);
		return;
	}
	for (size_t i = DIGITS; i-- > 0; left /= 10)
		digits[i] = (char)('0' + left % 10);
	while (count > 1 && digits[count - 1] == '0')
		count--;
	if (value < 0)
		text[size++] = '-';
	if (exponent < 0) {
		memcpy(text + size, "0.000", (size_t)(1 - exponent));
		size += (size_t)(1 - exponent);
		memcpy(text + size, digits, count);
		size += count;
	} else {
		size_t whole = (size_t)exponent + 1;

		memcpy(text + size, digits, whole);
		size += whole;
		text[size++] = '.';
		if (count > whole) {
			memcpy(text + size, digits + whole, count - whole);
			size += count - whole;
		} else {
			text[size++] = '0';
		}
	}
	buffer_append(out, text, size);
}
