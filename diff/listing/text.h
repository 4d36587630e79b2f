/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* Source text as lines. It is foreign: any bytes, and lines of any length. */

enum { TEXT_MOST_BYTES = 64 << 20 }; /* of a file; a larger one is not read */

/* A line without its end and its trailing blanks; borrowed. */
struct text_line {
	const char *text;
	size_t size;
};

/* Lines of a file that follow each other. */
struct text_block {
	uint32_t first_line;
	const char *bytes; /* borrowed: whole lines with '\n' between them */
	size_t size;
	struct text_line *lines; /* owned */
	size_t line_count;
};

/* The text of a file: in order of lines, without overlaps. */
struct text {
	struct text_block *blocks; /* owned */
	size_t block_count;
	char *bytes; /* owned: what the blocks are of */
	size_t size;
};

void text_deinit(struct text *text);

/* Takes a whole file's bytes over, which malloc() gave. */
void text_of_file(char *bytes, size_t size, struct text *text);

/* Copies what a profile has kept of a file; texts that follow each other become one block. */
void text_of_profile(const struct profile *profile, uint32_t source_file, struct text *text);

/* Returns the block that has a line; NULL: none has it. */
const struct text_block *text_block_at(const struct text *text, uint32_t line);

/* Returns a line; NULL: it is not there. */
const struct text_line *text_line_at(const struct text *text, uint32_t line);

/* Adds a line to a table of strings; of more than `most_bytes` a mark stands for the rest. */
COMMON_MUST_CHECK
bool text_intern_shown(
	struct string_table *strings, const struct text_line *line, size_t most_bytes, uint32_t *id, struct error *err);
