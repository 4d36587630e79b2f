/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <string.h>

/* Reads the name of a function piece by piece. Names are foreign bytes: nothing is expected of their brackets. */

/* The name of a namespace without a name in C++. */
#define NAME_ANONYMOUS "(anonymous namespace)"

/* Returns whether a character belongs to a word: letters, digits, `_`, `$` and all that is not ASCII. */
bool name_is_word(char c);

/*
 * Returns the end of the piece that begins at `at`, which is no NUL: a word, an operator of C++ with its sign, a pair
 * of brackets with all that stands between them, or else one character. A bracket without its pair is one character.
 * `at` is the start of the name, or an end that this function returned.
 */
const char *name_skip(const char *at);

/* Returns whether the file [file, end) is one of a language whose programs are run from their sources, by its name. */
bool name_is_script(const char *file, const char *end);

/* Returns whether the name continues with `text`, which is not empty, at `at`: mostly it does not by its first byte. */
static inline bool name_has(const char *at, const char *text)
{
	return *at == *text && strncmp(at, text, strlen(text)) == 0;
}
