/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Finds where a function ends in the text of its file. No debug information says it for all languages, but people and
 * their formatters indent: a function ends before the first line that is indented no deeper than the line of its
 * definition. The rule reads no language, so it is the same for all of them.
 */

/*
 * Returns the last line of a function, from 1 on. `text` holds whole lines with '\n' between them, of which the first
 * is the line `first_line` of its file; it is foreign, of any bytes. `definition` is the line of the function's
 * definition, and `last_sampled` the last one that is known to be in the function: the end lies at it or behind it.
 *
 * The first line behind `last_sampled` whose indentation is no deeper than that of the definition ends the function; it
 * belongs to it if it begins with a closing bracket or with the word `end`, as `}`, `});` or `end`. Lines that
 * formatters put to the margin within functions end none: empty ones, those of the C preprocessor and comments that
 * begin with '#', labels, and those that go on with the head of the function, such as `{` and `) -> int {`.
 *
 * `last_sampled` if the text does not have the line of the definition. Takes time in proportion to the text.
 */
uint32_t profile_source_end(
	const char *text, size_t size, uint32_t first_line, uint32_t definition, uint32_t last_sampled);
