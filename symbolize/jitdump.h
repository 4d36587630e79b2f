/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The binary log of code made at run time, /tmp/jit-PID.dump (linux, tools/perf/Documentation/jitdump-specification.txt). */

/* A function as it was placed, or moved. */
struct jitdump_code {
	uint64_t start, size;
	uint64_t index;   /* the function's number, kept when it moves */
	const char *name; /* borrowed from the log; NULL: moved, the name is that of the number */
};

/* Whether the bytes are such a log; the reader then stands at its first record. */
bool jitdump_begin(struct byte_reader *r);

/* The next function placed or moved; false at the end, or where the log makes no sense. */
bool jitdump_next(struct byte_reader *r, struct jitdump_code *code);
