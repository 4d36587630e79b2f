/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A text that is read in pieces. */
struct text_source {
	const void *head; /* borrowed: the bytes that have been read already */
	size_t head_bytes;
	/* Reads up to `room` (never 0) further bytes; `*got` 0: the text has ended. NULL: `head` is all of it. */
	bool (*read)(void *context, void *into, size_t room, size_t *got, struct error *err);
	void *context;
};

/* The lines of a text that is read in pieces: memory holds one piece, or one line where that is longer. */
struct text_lines {
	const struct text_source *text; /* borrowed */
	char *bytes;                    /* owned: the piece; NULL: the lines are those of `head` */
	const char *at, *end;           /* what has been read, and not been returned yet */
	size_t capacity, most;          /* of the piece; bytes of the longest line that is accepted */
	size_t line;                    /* number of the line that was returned last, from 1 on */
	bool has_ended;
	bool is_cut;      /* the line that was returned last is the text's last one, and has no end */
	bool read_failed; /* the error is that of read(), which names the file */
};

COMMON_MUST_CHECK
bool text_lines_init(struct text_lines *lines, const struct text_source *text, size_t most, struct error *err);
void text_lines_deinit(struct text_lines *lines);

/*
 * The next line without its end (LF or CR LF), borrowed until the next call; `*line` NULL: there is none. A line of
 * more than `most` bytes is ERROR_LIMIT.
 */
COMMON_MUST_CHECK
bool text_lines_next(struct text_lines *lines, const char **line, size_t *size, struct error *err);
