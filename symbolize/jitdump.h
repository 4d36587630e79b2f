/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The binary log of code made at run time, /tmp/jit-PID.dump (linux,
 * tools/perf/Documentation/jitdump-specification.txt). */
struct jitdump {
	struct byte_reader r;
	struct byte_reader lines; /* of the function that comes next */
	uint64_t lines_start;     /* where its code begins */
	uint64_t line_offset;     /* what the addresses of lines are too high by */
};

/* Addresses and lines of a function's code, unread. */
struct jitdump_lines {
	struct byte_reader entries;
	uint64_t offset; /* from an address in the code to its address in the entries */
};

/* A function as it was placed, or moved. */
struct jitdump_code {
	uint64_t start, size;
	uint64_t index;             /* the function's number, kept when it moves */
	const char *name;           /* borrowed from the log; NULL: moved, name and lines are those of the number */
	struct jitdump_lines lines; /* none: no entries */
};

/* Whether the bytes, which are borrowed, are such a log. */
bool jitdump_init(struct jitdump *dump, const void *bytes, size_t size);

/* The next function placed or moved; false at the end, or where the log makes no sense. */
bool jitdump_next(struct jitdump *dump, struct jitdump_code *code);

/*
 * The file in which the function begins, borrowed from the log, and the last line of that file at or before the address
 * (0: none): what was inlined from other files stands where it was called. False when nothing is known.
 */
bool jitdump_find_line(const struct jitdump_lines *lines, uint64_t address, const char **file, uint32_t *line);
