/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/v8/v8.h"

/* The positions of code in its script, by tables that V8 has for its own stack traces. */

/* The position of code from an offset in bytecode or in instructions on. */
struct v8_position {
	int32_t code;
	int32_t script;  /* the character in the script, from 0; -1: not known */
	int32_t inlined; /* the inlined call that it is in; -1: none */
};

/* A call that was inlined. */
struct v8_inlined {
	uint64_t shared;         /* SharedFunctionInfo of what was called; 0: not known */
	int32_t script, inlined; /* of the call */
};

struct v8_positions {
	struct v8_position *items;  /* owned; rising by `code` */
	struct v8_inlined *inlined; /* owned */
	size_t count, inlined_count;
};

void v8_positions_deinit(struct v8_positions *positions);

/* Reads a table, of bytecode or of optimized code. Empty: V8 has made none, or it could not be read. */
COMMON_MUST_CHECK
bool v8_read_positions(struct v8_heap *heap, uint64_t table, struct v8_positions *positions, struct error *err);

/* Reads the table of baseline code, which leads to its bytecode: the positions are by offsets of instructions. */
COMMON_MUST_CHECK
bool v8_read_baseline_positions(struct v8_heap *heap, uint64_t table, uint64_t bytecode,
	const struct v8_positions *of_bytecode, struct v8_positions *positions, struct error *err);

/* Adds the calls that were inlined into optimized code, by its deoptimization data. */
COMMON_MUST_CHECK
bool v8_read_inlined(struct v8_heap *heap, uint64_t data, struct v8_positions *positions, struct error *err);

/* The last position up to an offset; NULL: there is none. */
const struct v8_position *v8_position_at(const struct v8_positions *positions, int64_t code);
