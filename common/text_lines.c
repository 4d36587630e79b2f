/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text_lines.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_PIECE_BYTES = 1 << 20 };

bool text_lines_init(struct text_lines *lines, const struct text_source *text, size_t most, struct error *err)
{
	const char *head = text->head ? text->head : "";
	size_t capacity = text->head_bytes > TEXT_PIECE_BYTES ? text->head_bytes : TEXT_PIECE_BYTES;

	*lines = (struct text_lines){ .text = text, .most = most, .has_ended = !text->read };
	if (text->read) {
		lines->bytes = malloc(capacity);
		if (!lines->bytes)
			return error_set_memory(err);
		lines->capacity = capacity;
		memcpy(lines->bytes, head, text->head_bytes);
		head = lines->bytes;
	}
	lines->at = head;
	lines->end = head + text->head_bytes;
	return true;
}

void text_lines_deinit(struct text_lines *lines)
{
	free(lines->bytes);
}

/* Moves the start of a line to the start of the piece, so that there is room behind it. */
static bool text_make_room(struct text_lines *lines, struct error *err)
{
	size_t left = (size_t)(lines->end - lines->at);
	char *moved;

	memmove(lines->bytes, lines->at, left);
	if (left == lines->capacity) {
		moved = realloc(lines->bytes, 2 * lines->capacity);
		if (!moved)
			return error_set_memory(err);
		lines->bytes = moved;
		lines->capacity *= 2;
	}
	lines->at = lines->bytes;
	lines->end = lines->bytes + left;
	return true;
}

static bool text_read_more(struct text_lines *lines, struct error *err)
{
	size_t got = 0;

	if (!text_make_room(lines, err))
		return false;
	lines->read_failed = !lines->text->read(lines->text->context, lines->bytes + (lines->end - lines->at),
		lines->capacity - (size_t)(lines->end - lines->at), &got, err);
	if (lines->read_failed)
		return false;
	lines->end += got;
	lines->has_ended = got == 0;
	return true;
}

static bool text_too_long(const struct text_lines *lines, struct error *err)
{
	return error_set(err, ERROR_LIMIT, "line %zu is longer than %zu bytes", lines->line + 1, lines->most);
}

bool text_lines_next(struct text_lines *lines, const char **line, size_t *size, struct error *err)
{
	size_t searched = 0;
	const char *stop = NULL;

	for (;;) {
		size_t left = (size_t)(lines->end - lines->at);

		stop = left > searched ? memchr(lines->at + searched, '\n', left - searched) : NULL;
		if (stop || lines->has_ended)
			break;
		if (left > lines->most)
			return text_too_long(lines, err);
		searched = left;
		if (!text_read_more(lines, err))
			return false;
	}
	*line = stop || lines->at < lines->end ? lines->at : NULL;
	lines->is_cut = *line && !stop;
	stop = stop ? stop : lines->end;
	*size = (size_t)(stop - lines->at);
	if (*size > lines->most)
		return text_too_long(lines, err);
	lines->at = stop < lines->end ? stop + 1 : stop;
	lines->line += *line != NULL;
	if (*size > 0 && (*line)[*size - 1] == '\r')
		--*size;
	return true;
}
