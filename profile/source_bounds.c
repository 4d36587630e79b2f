/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the end of a function in a text by how its lines are indented. */
#include "profile/source_bounds.h"

#include <stdbool.h>
#include <string.h>

enum { TAB_COLUMNS = 8 };

/* A line without its end and its trailing blanks. */
struct source_line {
	const char *text; /* its first byte that is no blank */
	size_t size;      /* 0: it is empty */
	size_t indent;    /* columns */
};

static bool source_bounds_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static bool source_bounds_is_word(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Reads the line at `*at`, and moves behind its end; false where the text has ended. */
static bool source_bounds_next_line(const char **at, const char *end, struct source_line *line)
{
	const char *text = *at, *newline, *stop;

	if (text == end)
		return false;
	newline = memchr(text, '\n', (size_t)(end - text));
	stop = newline ? newline : end;
	*at = newline ? newline + 1 : end;
	for (line->indent = 0; text < stop && source_bounds_is_blank(*text); text++)
		line->indent += *text == '\t' ? TAB_COLUMNS - line->indent % TAB_COLUMNS : 1;
	while (stop > text && source_bounds_is_blank(stop[-1]))
		stop--;
	line->text = text;
	line->size = (size_t)(stop - text);
	return true;
}

/* Recognises labels: `out:`, but not `public:`, which no function contains. */
static bool is_label(const struct source_line *line)
{
	static const char *const sections[] = { "public", "private", "protected" };
	size_t word = 0;

	while (word < line->size && source_bounds_is_word(line->text[word]))
		word++;
	if (word == 0 || word + 1 != line->size || line->text[word] != ':')
		return false;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strlen(sections[i]) == word && memcmp(line->text, sections[i], word) == 0)
			return false;
	return true;
}

/* `) -> int {` and `} else {` open what follows. */
static bool is_opening(const struct source_line *line)
{
	return memchr("{([:", line->text[line->size - 1], 4) != NULL;
}

static bool begins_with_closing(const struct source_line *line)
{
	return memchr("})]", line->text[0], 3) != NULL;
}

static bool is_closing(const struct source_line *line)
{
	bool is_end = line->size >= 3 && memcmp(line->text, "end", 3) == 0 &&
		      (line->size == 3 || !source_bounds_is_word(line->text[3]));

	return is_end || begins_with_closing(line);
}

/* Returns whether a line at the margin is one within the function. */
static bool source_bounds_goes_on(const struct source_line *line)
{
	return line->size == 0 || line->text[0] == '#' || line->text[0] == '{' || is_label(line) ||
	       (begins_with_closing(line) && is_opening(line));
}

uint32_t profile_source_end(
	const char *text, size_t size, uint32_t first_line, uint32_t definition, uint32_t last_sampled)
{
	const char *at = text, *end = text + size;
	uint32_t number = first_line, last = definition > last_sampled ? definition : last_sampled;
	uint32_t known = last, filled = last;
	struct source_line line;
	size_t margin = 0;

	if (definition < first_line)
		return last_sampled;
	for (; number < UINT32_MAX && source_bounds_next_line(&at, end, &line); number++) {
		if (number == definition)
			margin = line.indent;
		if (number <= known)
			continue;
		if (line.size > 0 && line.indent <= margin && !source_bounds_goes_on(&line))
			return is_closing(&line) ? number : filled;
		/* Empty lines, and what stands at the margin above the next function, belong to the function if it goes
		 * on. */
		if (line.size > 0 && line.indent > margin)
			filled = number;
	}
	return number > definition ? filled : last_sampled;
}
