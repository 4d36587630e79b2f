/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/interpret/python/python.h"

/*
 * Code objects of CPython, as they lie in the memory of a process. It may change while it is read, and be anything:
 * what does not look like a code object counts as gone. Text that is too long is cut.
 */

/* What two code objects at the same address differ in, as far as it can be told by a look at them. */
struct python_marks {
	uint64_t type, qualname, filename, line_table;
	uint32_t first_line, argument_count, flags, reserved;
};

/* A line of the source, from an instruction on, up to that of the next one. */
struct python_line {
	uint32_t unit; /* number of the instruction, in code units of two bytes */
	uint32_t line; /* 0: not known */
};

struct python_code {
	char *name, *file; /* borrowed from the reader until the next read; UTF-8 */
	uint32_t first_line;
	const struct python_line *lines; /* sorted; borrowed likewise */
	size_t line_count;
};

enum { PYTHON_MOST_MARKS = 64 };

struct python_code_reader; /* what is needed to read */

/*
 * Until the next call with NULL, what the copy has is read from it, and zeros where the process cannot be read beyond
 * it: text ends there, and so do lines.
 */
void python_code_reader_use(struct python_code_reader *reader, const struct ebpf_code *copy);

COMMON_MUST_CHECK
bool python_code_reader_create(const struct process_host *host, struct python_code_reader **reader, struct error *err);
void python_code_reader_destroy(struct python_code_reader *reader); /* NULL is allowed */

/*
 * Reads the marks of some code objects of one process, PYTHON_MOST_MARKS at most, with one system call. Returns how
 * many could be read: the next one could not.
 */
size_t python_code_read_marks(struct python_code_reader *reader, const struct python_image *python, int32_t pid,
	const uint64_t *addresses, size_t count, struct python_marks *marks);

/* Reads the rest of a code object. `*is_gone`: it is none. Fails for want of memory. */
COMMON_MUST_CHECK
bool python_code_read(struct python_code_reader *reader, const struct python_image *python, int32_t pid,
	const struct python_marks *marks, struct python_code *code, bool *is_gone, struct error *err);

/* Appends the text of a string object that was copied, as far as the copy has it. False: it is none. */
bool python_text_append(const struct python_image *python, const uint8_t *bytes, size_t size, struct buffer *text);

/*
 * Decodes a location table (CPython, Objects/locations.md; 3.11 and later) up to its end, or to where it is damaged.
 * `lines` has room for one more than there are bytes. Returns how many lines there are.
 */
size_t python_lines_decode(const void *table, size_t size, uint32_t first_line, struct python_line *lines);

/* The line of an instruction; 0: not known. */
uint32_t python_lines_find(const struct python_line *lines, size_t count, uint32_t unit);
