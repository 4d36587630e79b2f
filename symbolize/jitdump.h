/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The binary log of code made at run time, /tmp/jit-PID.dump (linux,
 * tools/perf/Documentation/jitdump-specification.txt). */
struct jitdump {
	struct byte_reader r;
	struct byte_reader lines; /* lines of the next function */
	uint64_t lines_start;     /* start of that function's code */
	uint64_t line_offset;     /* difference from the addresses of lines to those of code */
};

/* Addresses and lines of a function's code, unread. */
struct jitdump_lines {
	struct byte_reader entries;
	uint64_t offset; /* from an address in the code to its address in the entries */
};

/* A function that was placed, or moved. */
struct jitdump_code {
	uint64_t start, size;
	uint64_t index;   /* the function's number, kept when it moves */
	const char *name; /* borrowed from the log; NULL: it was moved, and keeps the name and lines of its number */
	struct jitdump_lines lines; /* empty: no entries */
};

/* Whether the bytes, which are borrowed, are a jitdump. */
bool jitdump_init(struct jitdump *dump, const void *bytes, size_t size);

/* The next function that was placed or moved; false at the end, or at malformed data. */
bool jitdump_next(struct jitdump *dump, struct jitdump_code *code);

/*
 * Finds the file in which the function begins, borrowed from the log, and the last line of that file at or before the
 * address (0: none): code inlined from other files counts at its call. False if nothing is known.
 */
bool jitdump_find_line(const struct jitdump_lines *lines, uint64_t address, const char **file, uint32_t *line);
