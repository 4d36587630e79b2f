/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What is left of a text, which is borrowed and needs no NUL. text_take_*() read what stands at its start, within its
 * end, and move behind it; where that is something else, they return false and leave the cursor and their outputs.
 */
struct text_cursor {
	const char *at, *end;
};

static inline struct text_cursor text_over(const char *bytes, size_t size)
{
	return (struct text_cursor){ bytes, bytes + size };
}

/* Returns how many bytes are left. */
static inline size_t text_left(struct text_cursor text)
{
	return (size_t)(text.end - text.at);
}

static inline bool text_is_at(struct text_cursor text, char byte)
{
	return text.at < text.end && *text.at == byte;
}

/* Returns whether what is left is `whole`. */
static inline bool text_is(struct text_cursor text, const char *whole)
{
	size_t size = strlen(whole);

	return text_left(text) == size && memcmp(text.at, whole, size) == 0;
}

static inline bool text_take_byte(struct text_cursor *text, char byte)
{
	bool is_there = text_is_at(*text, byte);

	text->at += is_there;
	return is_there;
}

static inline bool text_starts_with(struct text_cursor text, const char *literal)
{
	size_t size = strlen(literal);

	return text_left(text) >= size && memcmp(text.at, literal, size) == 0;
}

static inline bool text_take_literal(struct text_cursor *text, const char *literal)
{
	bool is_there = text_starts_with(*text, literal);

	text->at += is_there ? strlen(literal) : 0;
	return is_there;
}

/* Moves behind spaces and tabs. */
static inline void text_skip_blanks(struct text_cursor *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
}

/* Takes the bytes up to the first of `separators`, or to the end; there may be none. */
static inline struct text_cursor text_take_word(struct text_cursor *text, const char *separators)
{
	struct text_cursor word = { text->at, text->at };

	while (word.end < text->end && (*word.end == '\0' || !strchr(separators, *word.end)))
		word.end++;
	text->at = word.end;
	return word;
}

/* Takes decimal digits without a sign; false also if the number is larger than `most`. */
static inline bool text_take_number(struct text_cursor *text, uint64_t most, uint64_t *number)
{
	const char *at = text->at;
	uint64_t value = 0;

	for (unsigned int digit; at < text->end && (digit = (unsigned int)*at - '0') < 10; at++)
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
			return false;
	if (at == text->at || value > most)
		return false;
	text->at = at;
	*number = value;
	return true;
}

/* [byte]: what it is worth as a hexadecimal digit, plus 1; 0: it is none. */
extern const uint8_t text_hex_digits[256];

/*
 * Returns the value of a hexadecimal digit; more than 15: the byte is none. A table takes half the time of comparisons.
 */
static inline unsigned int text_hex_digit(char byte)
{
	return text_hex_digits[(unsigned char)byte] - 1u;
}

/* Takes hexadecimal digits without a sign or `0x`; false also if the number has more than 64 bits. */
static inline bool text_take_hex(struct text_cursor *text, uint64_t *number)
{
	const char *at = text->at;
	uint64_t value = 0;

	for (unsigned int digit; at < text->end && (digit = text_hex_digit(*at)) < 16; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (at == text->at)
		return false;
	text->at = at;
	*number = value;
	return true;
}

/* Takes two hexadecimal digits. */
static inline bool text_take_hex_byte(struct text_cursor *text, uint8_t *byte)
{
	struct text_cursor digits = *text;
	uint64_t value;

	if (text_left(*text) < 2)
		return false;
	digits.end = text->at + 2;
	if (!text_take_hex(&digits, &value) || digits.at != digits.end)
		return false;
	text->at = digits.end;
	*byte = (uint8_t)value;
	return true;
}
