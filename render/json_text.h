/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <jansson.h>

/*
 * Writes JSON values as text, byte by byte as jansson does in its compact form with twelve digits. It is for members
 * that a document has by the ten thousand: an object for each and printf() took a tenth of the time of a large diff.
 */

/*
 * Appends to a buffer, as a json_dump_callback_t. It escapes characters that a terminal would obey and jansson does not
 * escape, such as controls above U+007F and direction marks. A program reads the same text.
 */
int json_text_write(const char *bytes, size_t size, void *context);

/* An unknown value is null, since JSON has no NaN; json_whole() rounds a known one, which no measurement lets reach
 * 2^63. */
json_t *json_number(double value);
json_t *json_whole(double value);

/* Returns a name as JSON, which is UTF-8: a name may hold any bytes of a foreign file. NULL: out of memory. */
json_t *json_valid_string(const char *text);

/* Quotes and escapes a name, and replaces what is not UTF-8. False: out of memory. */
COMMON_MUST_CHECK
bool json_text_string(struct buffer *out, const char *text);

/* Appends a member of an object behind others, with a comma before it. NULL is the empty text. False: out of memory. */
COMMON_MUST_CHECK
bool json_text_member(struct buffer *out, const char *key, const char *text);
void json_text_flag(struct buffer *out, const char *key, bool value);
void json_text_member_number(struct buffer *out, const char *key, double value);

/* Writes twelve digits; null if the number is not finite. */
void json_text_number(struct buffer *out, double value);

void json_text_integer(struct buffer *out, int64_t value);

/* Appends literal text, such as `,"name":`. */
#define JSON_TEXT(out, literal) buffer_append((out), (literal), sizeof(literal) - 1)
