/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The binary log of code made at run time, jit-PID.dump (linux,
 * tools/perf/Documentation/jitdump-specification.txt). A log grows for as long as its process lives, and holds the code
 * itself: only the starts of records are read, through a window, so that memory does not depend on the log's size.
 */
struct jitdump {
	int fd;          /* borrowed */
	uint8_t *window; /* owned: bytes of the log around the record */
	size_t window_bytes;
	uint64_t window_at;
	uint64_t first, next;           /* offsets of records */
	uint64_t lines_start;           /* start of the code that the last lines are of */
	uint64_t lines_at, lines_bytes; /* their entries */
	bool lines_are_near;            /* a function has a line in its first bytes: see jitdump_line_offset() */
	bool has_other_clock;           /* its times are those of the processor's counter */
};

/* A function that was placed or moved. Offsets are those of the log. */
struct jitdump_code {
	uint64_t start, size;
	uint64_t index;                 /* the function's number, kept when it moves */
	uint64_t time_ns;               /* CLOCK_MONOTONIC when it was; 0: not known */
	uint64_t name_at;               /* 0: it was moved, and keeps the name and lines of its number */
	uint64_t lines_at, lines_bytes; /* no bytes: no entries */
};

/* `*is_jitdump`: whether the file, which is borrowed, is a jitdump. Pairs with jitdump_deinit(), also after a failure.
 */
COMMON_MUST_CHECK
bool jitdump_init(struct jitdump *dump, int fd, bool *is_jitdump, struct error *err);
void jitdump_deinit(struct jitdump *dump);

/* Reads the next function that was placed or moved; false at the end, or at malformed data. */
bool jitdump_next(struct jitdump *dump, struct jitdump_code *code);

/* Goes back to the first record. */
void jitdump_rewind(struct jitdump *dump);

/* The difference from the addresses of lines to those of code, after all records were read. */
uint64_t jitdump_line_offset(const struct jitdump *dump);

/* The text at an offset, cut where it is too long, in the window until the next call; "" if it cannot be read. */
const char *jitdump_text(struct jitdump *dump, uint64_t offset);

/*
 * Finds the file in which the function begins, and the last line of that file at or before the address as the entries
 * count it (0: none): code inlined from other files counts at its call. The file is in the window until the next call.
 * False if nothing is known.
 */
bool jitdump_find_line(
	struct jitdump *dump, uint64_t at, uint64_t bytes, uint64_t address, const char **file, uint32_t *line);
