/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/source_plan.h"

/* The lines of a file that was read, and which of them a range wants. */

enum {
	SOURCE_LINES_BEFORE = 2,   /* the definition of a function */
	SOURCE_LINES_BEHIND = 400, /* the last sampled line of one, at most */
	SOURCE_LINES_UNKNOWN = 40, /* before the first sampled line of a function whose definition is not known */
	SOURCE_LINES_AFTER_UNKNOWN = 10,
	SOURCE_LINES_AROUND = 5,      /* a window's line */
	SOURCE_MAX_LINE_BYTES = 4096, /* longer lines are cut */
	SOURCE_MAX_RANGE_BYTES = 1 << 18,
};

struct source_lines {
	const char *text; /* borrowed: foreign, of any bytes */
	size_t size;
	uint32_t *starts; /* owned: [line - 1] where it begins; one more, behind the last */
	uint32_t count;
};

/* `size` fits 32 bits. */
COMMON_MUST_CHECK
bool source_lines_init(struct source_lines *lines, const char *text, size_t size, struct error *err);
void source_lines_deinit(struct source_lines *lines);

/* Returns how many lines of the file must be there for a range to be complete. */
uint32_t source_lines_needed(const struct source_range *range);

/*
 * Appends the text of a range, whole lines with '\n' between them, and sets its first line. Nothing if the file has no
 * such lines, or they are no text.
 */
void source_lines_cut(
	const struct source_lines *lines, const struct source_range *range, uint32_t *first_line, struct buffer *out);
