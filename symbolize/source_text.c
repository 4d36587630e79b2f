/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the lines of a function in the text of its file. */
#include "symbolize/source_text.h"

#include <stdlib.h>
#include <string.h>

bool source_lines_init(struct source_lines *lines, const char *text, size_t size, struct error *err)
{
	const char *end = text + size;
	uint32_t count = 0;

	*lines = (struct source_lines){ .text = text, .size = size };
	for (const char *at = text; at < end; count++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	}
	if (!ARRAY_ZEROED(&lines->starts, (size_t)count + 1, err))
		return false;
	for (const char *at = text; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		lines->starts[lines->count++] = (uint32_t)(at - text);
		at = newline ? newline + 1 : end;
	}
	lines->starts[lines->count] = (uint32_t)size;
	return true;
}

void source_lines_deinit(struct source_lines *lines)
{
	free(lines->starts);
	*lines = (struct source_lines){ 0 };
}

static uint32_t known_last(const struct source_range *range)
{
	return range->last > range->definition ? range->last : range->definition;
}

uint32_t source_lines_needed(const struct source_range *range)
{
	uint32_t last = known_last(range);

	return last < UINT32_MAX - SOURCE_LINES_BEHIND ? last + SOURCE_LINES_BEHIND : UINT32_MAX;
}

static uint32_t less(uint32_t line, uint32_t by)
{
	return line > by ? line - by : 1;
}

static uint32_t at_most(uint64_t line, uint32_t most)
{
	return line < most ? (uint32_t)line : most;
}

/* The last line of the function, which is in the file. */
static uint32_t source_text_find_end(const struct source_lines *lines, const struct source_range *range)
{
	uint32_t known = known_last(range), behind = at_most((uint64_t)known + SOURCE_LINES_BEHIND, lines->count);
	size_t start = lines->starts[range->definition - 1];

	return profile_source_end(
		lines->text + start, lines->starts[behind] - start, range->definition, range->definition, known);
}

static bool source_text_find_bounds(
	const struct source_lines *lines, const struct source_range *range, uint32_t *first, uint32_t *last)
{
	if (known_last(range) > lines->count)
		return false;
	if (range->is_window) {
		*first = less(range->first, SOURCE_LINES_AROUND);
		*last = at_most((uint64_t)range->last + SOURCE_LINES_AROUND, lines->count);
	} else if (range->definition && (range->first == 0 || range->definition <= range->first)) {
		*first = less(range->definition, SOURCE_LINES_BEFORE);
		*last = at_most(source_text_find_end(lines, range), lines->count);
	} else {
		/* What a macro or an included file defines may seem to be defined behind its code. */
		*first = less(range->first, SOURCE_LINES_UNKNOWN);
		*last = at_most((uint64_t)range->last + SOURCE_LINES_AFTER_UNKNOWN, lines->count);
	}
	/* A function that is larger than all that is kept loses the part before its first sampled line. */
	if (lines->starts[*last] - lines->starts[*first - 1] > SOURCE_MAX_RANGE_BYTES && range->first)
		*first = less(range->first, SOURCE_LINES_AROUND);
	return true;
}

void source_lines_cut(
	const struct source_lines *lines, const struct source_range *range, uint32_t *first_line, struct buffer *out)
{
	uint32_t first, last;
	size_t begin = out->size;

	if (!source_text_find_bounds(lines, range, &first, &last))
		return;
	*first_line = first;
	for (uint32_t line = first; line <= last; line++) {
		const char *at = lines->text + lines->starts[line - 1];
		size_t size = lines->starts[line] - lines->starts[line - 1];

		size -= size > 0 && at[size - 1] == '\n';
		size = size < SOURCE_MAX_LINE_BYTES ? size : SOURCE_MAX_LINE_BYTES;
		if (out->size - begin + size > SOURCE_MAX_RANGE_BYTES)
			break;
		if (line > first)
			buffer_append_byte(out, '\n');
		buffer_append(out, at, size);
	}
	if (memchr(out->data + begin, '\0', out->size - begin))
		out->size = begin;
}
