/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

/* The rules by which a line of text is broken. */
struct wrap {
	size_t width;     /* of each line, in columns; more than `indent` */
	size_t indent;    /* columns that are free in front of each line but the first */
	const char *mark; /* at the end of each line that goes on; NULL: nothing */
};

/*
 * Appends one line of text, cleaned, and its newline. It is broken at spaces; a word that is wider than a line has a
 * line of its own. What stands in backticks or in single quotes, a name or a command, is one word where a line has room
 * for it, and so is a number with its percent sign. Spaces in front of the text stay.
 */
void wrap_append(struct buffer *out, const char *text, const struct wrap *wrap);
