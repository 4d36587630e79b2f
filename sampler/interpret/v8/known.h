/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/names.h"
#include "sampler/interpret/v8/positions.h"

/*
 * Knowledge of a process with V8: its functions, their bytecode and code, by their addresses. These objects are rarely
 * moved, so what was found is kept, and is looked at again about once a second.
 */

/* A function; its names in the profile by tier, PROFILE_NONE until needed. */
struct v8_known_function {
	uint64_t shared, checked_ns;
	uint64_t script;   /* tagged */
	char *name, *path; /* owned */
	uint32_t line;
	uint32_t ids[V8_NO_FUNCTION];
};

struct v8_known_bytecode {
	uint64_t tagged, checked_ns;
	uint64_t data; /* of its SharedFunctionInfo */
	uint32_t function;
	bool is_used; /* since all were looked at */
};

struct v8_known_code {
	uint64_t start; /* the array is sorted by it */
	struct v8_code is;
	uint64_t checked_ns;
	uint32_t function; /* PROFILE_NONE: none, or not known yet */
	bool is_used;
};

/* The functions that the known scripts list, by bytecode. */
struct v8_known_list {
	struct v8_listed *items; /* owned */
	size_t count, capacity;
	struct hash_map by_bytecode;
	uint64_t next_ns, wait_ns; /* when the scripts may be asked again; how long after the last time */
};

/* The position of bytecode or code in its script. */
struct v8_known_positions {
	uint64_t of;    /* tagged: a BytecodeArray or a Code object */
	uint64_t table; /* its word for the table; 0: to be read */
	uint64_t checked_ns;
	struct v8_positions is;
};

/* An interpreted frame. */
struct v8_frame_place {
	uint64_t frame_pointer, pc;
};

struct v8_known {
	struct interpreter_giver giver;
	struct v8_heap heap;
	uint64_t unreadable_ns; /* of the sample for which its memory could not be read any more */
	uint64_t now_ns;        /* of the sample */
	uint64_t checked_ns;    /* when all that is used was looked at */
	uint64_t second_ns;     /* since when heap.reads_left are counted */
	struct v8_scripts scripts;
	struct v8_known_function *functions;
	size_t function_count, function_capacity;
	struct v8_known_bytecode *bytecodes;
	size_t bytecode_count, bytecode_capacity;
	struct v8_known_code *codes;
	size_t code_count, code_capacity;
	struct hash_map by_shared, by_bytecode;
	struct hash_map by_place; /* struct v8_frame_place -> the function that was interpreted there last */
	struct v8_known_list listed;
	struct v8_known_positions *positions;
	size_t position_table_count, position_capacity;
	size_t position_count; /* of all tables */
	struct hash_map by_positions;
	struct v8_function read; /* the function that was read last */
};

COMMON_MUST_CHECK
bool v8_known_create(int32_t pid, struct v8_known **known, struct error *err);
void v8_known_destroy(struct v8_known *known); /* NULL is allowed */

/* Makes it ready for a sample, of which it reads at a time by a clock. `layout` and `host` are borrowed. */
void v8_known_begin(
	struct v8_known *known, const struct v8_layout *layout, const struct process_host *host, uint64_t now_ns);

/*
 * Finds the function that has a bytecode; js_function: a tagged word that may be its JSFunction, 0: none. `*function`
 * PROFILE_NONE: it is not known.
 */
COMMON_MUST_CHECK
bool v8_known_by_bytecode(
	struct v8_known *known, uint64_t bytecode, uint64_t js_function, uint32_t *function, struct error *err);

/* The parts of a frame that may tell whose code is at its address. */
struct v8_frame {
	uint64_t address;
	uint64_t js_function; /* a tagged word that may be its JSFunction, 0: none */
	uint64_t stack_pointer;
	const struct unwind_stack_dump *dump; /* borrowed */
};

/* Finds the code of a frame, and its function or regular expression; PROFILE_NONE: there is none, or it is not known.
 */
COMMON_MUST_CHECK
bool v8_known_by_code(struct v8_known *known, const struct v8_frame *frame, struct v8_code *code, uint32_t *function,
	struct error *err);

/* Finds the function of a SharedFunctionInfo; PROFILE_NONE: it could not be read. */
COMMON_MUST_CHECK
bool v8_known_by_shared(struct v8_known *known, uint64_t shared, uint32_t *function, struct error *err);

/* ---- Lines (lines.c) ---- */

/* A function that is known, and its line; 0: not known. */
struct v8_place {
	uint32_t function, line;
};

enum { V8_MOST_PLACES = 16 };

/* Finds the line of an offset in the bytecode of place->function. */
COMMON_MUST_CHECK
bool v8_known_bytecode_line(
	struct v8_known *known, uint64_t bytecode, int64_t offset, struct v8_place *place, struct error *err);

/*
 * Finds the line of an address in code of places[0].function; where functions were inlined there, they come before it,
 * the innermost first.
 */
COMMON_MUST_CHECK
bool v8_known_places(struct v8_known *known, const struct v8_code *code, uint64_t address,
	struct v8_place places[V8_MOST_PLACES], size_t *count, struct error *err);

/* Has the positions of an object read again, since another may be in its place. */
void v8_known_forget_positions(struct v8_known *known, uint64_t of);
void v8_known_deinit_positions(struct v8_known *known);
