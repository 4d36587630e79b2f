/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the macros that a file defines, and the lines of functions that name them. */
#include "diff/commits/macros.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MACROS = 1 << 16, MAX_USES = 256 };

/* The text, line by line. */
struct line_cursor {
	const char *at, *end; /* what is left */
	const char *line;
	size_t size;
	uint32_t number;
};

static bool macros_next_line(struct line_cursor *cursor)
{
	const char *newline;

	if (cursor->at == cursor->end)
		return false;
	newline = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
	cursor->line = cursor->at;
	cursor->size = (size_t)((newline ? newline : cursor->end) - cursor->at);
	cursor->at = newline ? newline + 1 : cursor->end;
	cursor->number++;
	return true;
}

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* Returns the next name of a line from `*at` on; its size, 0 if there is none. */
static size_t next_name(const char *line, size_t size, size_t *at)
{
	size_t end;

	while (*at < size && !(is_name_byte(line[*at]) && (*at == 0 || !is_name_byte(line[*at - 1]))))
		++*at;
	for (end = *at; end < size && is_name_byte(line[end]);)
		end++;
	return end - *at;
}

/* ---- Definitions ---- */

static bool macros_is_continued(const struct line_cursor *cursor)
{
	size_t size = cursor->size;

	if (size > 0 && cursor->line[size - 1] == '\r')
		size--;
	return size > 0 && cursor->line[size - 1] == '\\';
}

/* Reads "# define NAME": where the name is; false if the line is none. */
static bool read_definition(const struct line_cursor *cursor, size_t *at, size_t *size)
{
	static const char word[] = "define";
	size_t i = 0;

	while (i < cursor->size && isspace((unsigned char)cursor->line[i]))
		i++;
	if (i == cursor->size || cursor->line[i++] != '#')
		return false;
	if (next_name(cursor->line, cursor->size, &i) != sizeof(word) - 1 ||
		memcmp(cursor->line + i, word, sizeof(word) - 1) != 0)
		return false;
	i += sizeof(word) - 1;
	*size = next_name(cursor->line, cursor->size, &i);
	*at = i;
	return *size > 0;
}

static int by_name(const void *left, const void *right)
{
	const struct macro *a = left, *b = right;
	size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
	int order = memcmp(a->name, b->name, size);

	return order != 0 ? order : ORDER(a->name_size, b->name_size);
}

bool macros_find(const char *text, size_t size, struct macros *macros, struct error *err)
{
	struct line_cursor cursor = { .at = text, .end = text + size };

	while (macros->count < MAX_MACROS && macros_next_line(&cursor)) {
		struct macro made = { .begin = cursor.line, .first = cursor.number };
		size_t at;

		if (!read_definition(&cursor, &at, &made.name_size))
			continue;
		made.name = cursor.line + at;
		while (macros_is_continued(&cursor) && macros_next_line(&cursor))
			;
		made.end = cursor.at;
		made.last = cursor.number;
		if (!ARRAY_APPEND(&macros->items, &macros->capacity, &macros->count, MAX_MACROS, err, made))
			return false;
	}
	if (macros->count > 0)
		qsort(macros->items, macros->count, sizeof(*macros->items), by_name);
	return true;
}

void macros_deinit(struct macros *macros)
{
	free(macros->items);
}

/* ---- Uses ---- */

struct use_search {
	const struct macros *macros;
	struct line_range *range;
	const struct macro *found[MAX_USES]; /* [use of the range] */
};

static bool has_use(const struct line_range *range, uint32_t line)
{
	for (size_t i = 0; i < range->use_count; i++)
		if (range->uses[i].first == line)
			return true;
	return false;
}

static bool add_use(struct use_search *search, const struct macro *macro, uint32_t own_line, struct error *err)
{
	struct line_range *range = search->range;
	bool is_within = macro->first >= range->first && macro->last <= range->last;

	if (is_within || has_use(range, macro->first))
		return true;
	if (!ARRAY_RESERVE(&range->uses, &range->use_capacity, range->use_count + 1, MAX_USES, err))
		return false;
	search->found[range->use_count] = macro;
	range->uses[range->use_count++] = (struct line_use){ macro->first, macro->last, own_line };
	return true;
}

static bool add_named(struct use_search *search, const struct macro *wanted, uint32_t own_line, struct error *err)
{
	const struct macros *macros = search->macros;
	const struct macro *end = macros->items + macros->count;
	const struct macro *found = bsearch(wanted, macros->items, macros->count, sizeof(*found), by_name);

	if (!found)
		return true;
	while (found > macros->items && by_name(found - 1, wanted) == 0)
		found--;
	for (; search->range->use_count < MAX_USES && found < end && by_name(found, wanted) == 0; found++)
		if (!add_use(search, found, own_line, err))
			return false;
	return true;
}

/* Adds the macros that lines name, from the cursor to the last of `lines`; `own_line` 0: each line is its own. */
static bool add_lines(struct use_search *search, struct line_cursor cursor, const uint32_t lines[2], uint32_t own_line,
	struct error *err)
{
	while (search->range->use_count < MAX_USES && macros_next_line(&cursor) && cursor.number <= lines[1]) {
		size_t at = 0, name_size;

		for (; cursor.number >= lines[0] && (name_size = next_name(cursor.line, cursor.size, &at)) > 0;
			at += name_size)
			if (!add_named(search, &(struct macro){ .name = cursor.line + at, .name_size = name_size },
				    own_line ? own_line : cursor.number, err))
				return false;
	}
	return true;
}

bool macros_add_uses(
	const struct macros *macros, const char *text, size_t size, struct line_range *range, struct error *err)
{
	struct use_search search = { .macros = macros, .range = range };
	const struct line_cursor all = { .at = text, .end = text + size };

	if (macros->count == 0)
		return true;
	if (!add_lines(&search, all, (const uint32_t[]){ range->first, range->last }, 0, err))
		return false;
	/* The list grows by what those in it name. */
	for (size_t i = 0; i < range->use_count; i++) {
		const struct macro *macro = search.found[i];
		const struct line_cursor definition = {
			.at = macro->begin, .end = macro->end, .number = macro->first - 1
		};

		if (!add_lines(&search, definition, (const uint32_t[]){ macro->first, macro->last },
			    range->uses[i].own_line, err))
			return false;
	}
	return true;
}
