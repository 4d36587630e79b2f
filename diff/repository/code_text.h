/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a line of a program says, without blanks and comments. Lines are read one after the other, as far as they stand
 * together; a comment that began before the first one is taken for code.
 */
struct code_text {
	bool has_hash_comments; /* '#' begins a comment, as in Python; else a line of the preprocessor */
	char comment;           /* that the last line left open: '*', or a quote of Python's; 0: none */
	uint64_t all;           /* hash of the code of all lines */
};

/* By the file's name. */
struct code_text code_text_of(const char *path);

/* As `texts` of struct repository_history. */
uint32_t code_text_line(struct code_text *code, const char *line, size_t size);
