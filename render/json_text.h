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

/*
 * Values and keys are appended behind a comma where one is due: where something of the same object or array stands
 * before. Without memory, as in all appends, the buffer fails.
 */
void json_text_open(struct buffer *out, char bracket);
void json_text_close(struct buffer *out, char bracket);
void json_text_key(struct buffer *out, const char *key);
/* Begins a member that is an object or an array. */
void json_text_begin(struct buffer *out, const char *key, char bracket);

/* Begins a line, so far to the right, for an entry of a list. */
void json_text_line(struct buffer *out, size_t indent);
/* Begins and ends a list that is a member of the document, an entry a line. */
void json_text_list(struct buffer *out, const char *key);
void json_text_end_list(struct buffer *out);
/* Appends how many entries such a list lacks, if there are any: "functions_left_out". */
void json_text_left_out(struct buffer *out, const char *key, size_t count);

/* Quotes and escapes a name, and replaces what is not UTF-8. NULL is the empty text. */
void json_text_string(struct buffer *out, const char *text);
/* Quotes a word of our own. */
void json_text_word(struct buffer *out, const char *word);
/* Writes twelve digits; null if the number is not finite. */
void json_text_number(struct buffer *out, double value);
void json_text_integer(struct buffer *out, int64_t value);
/* Rounds a measured value. No measurement reaches 2^63. */
void json_text_whole(struct buffer *out, double value);
void json_text_null(struct buffer *out);

/* Append a member of an object. */
void json_text_member(struct buffer *out, const char *key, const char *text);
/* Does so; null if the text is empty. */
void json_text_member_if(struct buffer *out, const char *key, const char *text);
void json_text_member_word(struct buffer *out, const char *key, const char *word);
void json_text_member_number(struct buffer *out, const char *key, double value);
void json_text_member_whole(struct buffer *out, const char *key, double value);
void json_text_member_integer(struct buffer *out, const char *key, int64_t value);
void json_text_member_null(struct buffer *out, const char *key);
/* Does so of a number; null if it is not known. */
void json_text_member_known(struct buffer *out, const char *key, bool is_known, int64_t value);
void json_text_flag(struct buffer *out, const char *key, bool value);
void json_text_member_pair(struct buffer *out, const char *key, double first, double second);
/* Appends [low, high]; null if an end is not known. */
void json_text_member_interval(struct buffer *out, const char *key, double low, double high);
