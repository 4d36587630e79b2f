/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a regular expression does not lead to its source, but what called it has the JSRegExp, or its data, which
 * has both: its code is the proof that it is the one. Both are read by the first words of the object: the data has the
 * source in its second or third word, and a JSRegExp has the data in its third.
 */
#include "sampler/interpret/v8/v8.h"

enum { REGEXP_WORDS = 16, JS_REGEXP_DATA = 3, MOST_CANDIDATES = 48 };

static bool read_object(struct v8_heap *heap, uint64_t tagged, uint64_t words[REGEXP_WORDS])
{
	return v8_is_pointer(tagged) && v8_read(heap, tagged - 1, words, REGEXP_WORDS * sizeof(*words));
}

/* The data is an array, with its length, or an object of its own. */
static bool has_code(struct v8_heap *heap, const uint64_t words[REGEXP_WORDS], const struct v8_code *code)
{
	size_t count = REGEXP_WORDS;

	if (v8_is_map_of(heap, words[0], V8_TYPE_FIXED_ARRAY) && v8_small(words[1]) >= 0 &&
		(size_t)v8_small(words[1]) < REGEXP_WORDS - 2)
		count = 2 + (size_t)v8_small(words[1]);
	for (size_t i = 1; i < count; i++)
		if (words[i] == code->described || (code->wrapper && words[i] == code->wrapper))
			return true;
	return false;
}

/* Appends the source that an object has, if it is the data of the code. */
static bool regexp_append_source(
	struct v8_heap *heap, const struct v8_code *code, const uint64_t words[REGEXP_WORDS], struct buffer *out)
{
	size_t before = out->size;

	for (size_t i = 2; i <= 3 && has_code(heap, words, code); i++) {
		if (v8_append_string(heap, words[i], V8_MOST_NAME, out))
			return true;
		out->size = before;
	}
	return false;
}

bool v8_append_regexp(
	struct v8_heap *heap, const struct v8_code *code, const uint64_t *words, size_t count, struct buffer *out)
{
	uint64_t object[REGEXP_WORDS], data[REGEXP_WORDS];
	size_t candidates = 0;

	for (size_t i = 0; i < count && candidates < MOST_CANDIDATES; i++) {
		if (!v8_is_pointer(words[i]))
			continue;
		candidates++;
		if (!read_object(heap, words[i], object))
			continue;
		if ((read_object(heap, object[JS_REGEXP_DATA], data) && regexp_append_source(heap, code, data, out)) ||
			regexp_append_source(heap, code, object, out))
			return true;
	}
	return false;
}
