/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/source_plan.h"

/*
 * The answer of the child that reads source files, one file after the other: a struct source_answer, and as many pieces
 * behind it, each a struct source_piece and its text. Its parent checks every byte.
 */
struct source_answer {
	uint32_t file; /* of the plan */
	uint32_t piece_count;
	int64_t modified_ns; /* since 1970 */
	uint8_t md5[PROFILE_SOURCE_MD5_BYTES];
	uint32_t has_md5;     /* the whole file was read */
	uint32_t is_changing; /* it was written to meanwhile */
};

struct source_piece {
	uint32_t range; /* of the file */
	uint32_t first_line;
	uint32_t bytes;
};

enum { SOURCE_MAX_ANSWER_BYTES = 8 << 20 };

/* A text that was read, of a file of the plan. */
struct source_taken {
	uint64_t weight;
	const char *text; /* borrowed from the answers, not ended by NUL */
	uint32_t file, first_line, bytes;
	bool is_function; /* not a window */
};

/* The amount that was read of all files. */
struct source_read {
	struct source_answer *answers; /* owned: [file of the plan] */
	bool *is_answered;             /* owned: likewise */
	struct source_taken *taken;    /* owned */
	size_t taken_count, taken_capacity;
};

COMMON_MUST_CHECK
bool source_read_init(struct source_read *read, const struct source_plan *plan, struct error *err);
void source_read_deinit(struct source_read *read);

/*
 * Takes the answers of one child, which are borrowed, up to the first that is cut off or malformed: a child that was
 * ended has written a part. It may be about the files alone that `is_asked` says. ERROR_MEMORY.
 */
COMMON_MUST_CHECK
bool source_read_take(struct source_read *read, const struct source_plan *plan, const bool *is_asked,
	struct byte_reader answers, struct error *err);
