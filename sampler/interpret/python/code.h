/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/python/python.h"

/*
 * Code objects of CPython, as they lie in the memory of a process. It may change while it is read, and be anything:
 * what does not look like a code object counts as gone. Text that is too long is cut.
 */

struct python_code_reader; /* what is needed to read */

COMMON_MUST_CHECK
bool python_code_reader_create(const struct process_host *host, struct python_code_reader **reader, struct error *err);

/* Zeros stand where a process cannot be read beyond what a copy has: text ends there, and so do lines. */
extern const struct interpreter_code_reader python_code_reads;

/* Appends the text of a string object that was copied, as far as the copy has it. False: it is none. */
bool python_text_append(const struct python_image *python, const uint8_t *bytes, size_t size, struct buffer *text);

/*
 * Decodes a location table (CPython, Objects/locations.md; 3.11 and later) up to its end, or to where it is damaged.
 * `lines` has room for one more than there are bytes. Returns how many lines there are.
 */
size_t python_lines_decode(const void *table, size_t size, uint32_t first_line, struct interpreter_line *lines);
