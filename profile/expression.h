/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * POSIX extended regular expressions, with GNU's \w \W \s \S \b \B \< \>, that tell whether they match a text
 * somewhere. All states of the automaton go through the text together (Thompson, CACM 11, 1968), so a match costs at
 * most the size of the expression for each byte of the text; the C library's needs exponential time and memory for
 * some. What repeats more than EXPRESSION_MOST_INSTRUCTIONS steps is refused. A back reference, which no automaton can
 * match, is refused as well. Texts are bytes, in no locale. Not thread-safe: a match writes to its expression.
 */
enum { EXPRESSION_MOST_INSTRUCTIONS = 8192 };

struct expression;

/* Compiles an expression. ERROR_USAGE: what is wrong with the text, as "a parenthesis is not closed". */
COMMON_MUST_CHECK
bool expression_create(const char *text, bool ignores_case, struct expression **expression, struct error *err);
void expression_destroy(struct expression *expression); /* NULL is allowed */

bool expression_matches(struct expression *expression, const char *text, size_t size);
