/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The text of a line of a program, without blanks and comments. Lines are read one after the other, as far as they
 * stand together; a comment that began before the first one is taken for code.
 */
struct code_text {
	bool has_hash_comments; /* '#' begins a comment, as in Python; else a line of the preprocessor */
	char comment;           /* that the last line left open: '*', or a quote of Python's; 0: none */
	uint64_t all;           /* hash of the code of all lines */
};

/* Returns the language by the file's name. */
struct code_text code_text_of(const char *path);

/* Returns the hash of the line's code, as `texts` of struct repository_history has it. */
uint32_t code_text_line(struct code_text *code, const char *line, size_t size);
