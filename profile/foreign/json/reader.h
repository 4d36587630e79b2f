/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Reads JSON (RFC 8259) value by value, without a tree of it in memory: files of profiles have millions of numbers.
 *
 *	json_reader_enter(&json, '{');
 *	while (json_reader_key(&json, &key))
 *		if (json_reader_is(key, "samples"))
 *			...
 *		else
 *			json_reader_skip(&json);
 *	if (!json_reader_ok(&json, err))
 *		return false;
 *
 * Failure is sticky, as of struct byte_reader: from then on nothing is read, all loops end, and json_reader_ok() says
 *where it happened. What is read is not checked beyond what is asked for.
 */
struct json_reader {
	const char *start, *at, *end; /* borrowed */
	struct buffer text;           /* of the last string that has escapes */
	const char *failure;          /* NULL: none yet */
};

/* A string, without its quotes; borrowed until the next one is read. Not NUL-terminated. */
struct json_reader_string {
	const char *text;
	size_t size;
};

void json_reader_init(struct json_reader *json, const void *bytes, size_t size);
void json_reader_deinit(struct json_reader *json);

/* Fails unless all was well. ERROR_FORMAT names the offset; ERROR_MEMORY. */
COMMON_MUST_CHECK
bool json_reader_ok(const struct json_reader *json, struct error *err);

/* Marks what was read as wrong; `why` is a literal. */
void json_reader_fail(struct json_reader *json, const char *why);

/* Begins an object or an array: '{' or '['. */
void json_reader_enter(struct json_reader *json, char bracket);

/* Reads the next member of an object, whose value must be read then; false: the object has ended. */
COMMON_MUST_CHECK
bool json_reader_key(struct json_reader *json, struct json_reader_string *key);

/* Returns whether an array has a further value, which must be read then. */
COMMON_MUST_CHECK
bool json_reader_item(struct json_reader *json);

/*
 * Returns what the next value is, by its first character: one of { [ " t f n, or a digit or '-'. '\0': the text has
 * ended.
 */
char json_reader_peek(struct json_reader *json);

/* Reads values. null reads as "" and 0. */
struct json_reader_string json_reader_text(struct json_reader *json);
double json_reader_number(struct json_reader *json);
/* Reads a number, rounded; what is too large for it is a failure. */
int64_t json_reader_integer(struct json_reader *json);
void json_reader_skip(struct json_reader *json);

static inline bool json_reader_is(struct json_reader_string string, const char *word)
{
	return string.size == strlen(word) && memcmp(string.text, word, string.size) == 0;
}
