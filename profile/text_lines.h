/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* The lines of a text that is read in pieces: memory holds one piece, or one line where that is longer. */
struct text_lines {
	const struct profile_text *text; /* borrowed; without read() `head` is all of it */
	char *bytes;                     /* owned: the piece; NULL: the lines are those of `head` */
	const char *at, *end;            /* what has been read, and not been returned yet */
	size_t capacity, most;           /* of the piece; bytes of the longest line that is accepted */
	size_t line;                     /* number of the line that was returned last, from 1 on */
	bool has_ended;
	bool read_failed; /* the error is that of read(), which names the file */
};

COMMON_MUST_CHECK
bool text_lines_init(struct text_lines *lines, const struct profile_text *text, size_t most, struct error *err);
void text_lines_deinit(struct text_lines *lines);

/*
 * The next line without its end (LF or CR LF), borrowed until the next call; `*line` NULL: there is none. A line of
 * more than `most` bytes is ERROR_LIMIT.
 */
COMMON_MUST_CHECK
bool text_lines_next(struct text_lines *lines, const char **line, size_t *size, struct error *err);
