/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * JSON values as text, byte by byte what jansson prints in its compact form with twelve digits: for the members that a
 * document has by the ten thousand, where making an object of each and formatting it through printf() was a tenth of a
 * large diff.
 */

/*
 * A json_dump_callback_t that appends to a buffer. What a terminal would obey and jansson leaves as it is, as the
 * controls above U+007F and marks of direction, is escaped: the same text to a program, nothing to a terminal.
 */
int json_text_write(const char *bytes, size_t size, void *context);

/* Quoted and escaped; what is not UTF-8 is replaced. False: no memory. */
COMMON_MUST_CHECK
bool json_text_string(struct buffer *out, const char *text);

/* Twelve digits; null where it is not finite. */
void json_text_number(struct buffer *out, double value);

void json_text_integer(struct buffer *out, int64_t value);

/* `,"name":`, or any other text that is known here and now. */
#define JSON_TEXT(out, literal) buffer_append((out), (literal), sizeof(literal) - 1)
