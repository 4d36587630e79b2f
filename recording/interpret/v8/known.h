/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/interpret/names.h"
#include "recording/interpret/v8/v8.h"

/*
 * What is known of a process with V8: its functions, their bytecode and code, by their addresses. These objects are
 * rarely moved, so what was found is kept, and is looked at again about once a second.
 */

/* A function; its names in the profile by tier, PROFILE_NONE until needed. */
struct v8_known_function {
	uint64_t shared, checked_ns;
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

/* An interpreted frame. */
struct v8_frame_place {
	uint64_t frame_pointer, pc;
};

struct v8_known {
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

/* What a frame has that may tell whose code is at its address. */
struct v8_frame {
	uint64_t address;
	uint64_t js_function; /* a tagged word that may be its JSFunction, 0: none */
	uint64_t stack_pointer;
	const struct unwind_stack_dump *dump; /* borrowed */
};

/* Finds the code of a frame, and its function or regular expression; PROFILE_NONE: there is none, or it is not known.
 */
COMMON_MUST_CHECK
bool v8_known_by_code(struct v8_known *known, const struct v8_frame *frame, enum v8_tier *tier, uint32_t *function,
	struct error *err);
