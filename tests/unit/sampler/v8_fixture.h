/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/v8/known.h"
#include "tests/unit/support/unit_test.h"

/* The heap of a process, as node 20 would have it, built by hand. */
enum { BASE = 0x10000000, HEAP_BYTES = 1 << 18, CODE_AT = BASE + (1 << 17) };

enum type {
	TYPE_ONE_BYTE = 40,
	TYPE_TWO_BYTE = 32,
	TYPE_CONS = 41,
	TYPE_SLICED = 43,
	TYPE_THIN = 45,
	TYPE_EXTERNAL = 42,
	TYPE_UNCACHED = 58,
	TYPE_ODDBALL = 131,
	TYPE_INTERPRETER_DATA = 159,
	TYPE_SCRIPT = 167,
	TYPE_ARRAY = 175,
	TYPE_BYTES = 176,
	TYPE_BYTECODE = 191,
	TYPE_CODE = 245,
	TYPE_STREAM = 252,
	TYPE_SCOPE_INFO = 261,
	TYPE_FUNCTION_INFO = 262,
	TYPE_FUNCTION = 2066,
	TYPES
};

/* Two prefixes, a bytecode without operands, and one with two. */
enum { V8_FIXTURE_BYTECODES = 4 };

extern const struct v8_layout v8_fixture_layout;

struct v8_fixture {
	bool is_gone; /* nothing can be read */
	uint8_t bytes[HEAP_BYTES];
	uint64_t used;
	uint64_t maps[TYPES]; /* tagged; 0: not made yet */
	struct process_host_functions functions;
	struct process_host host;
	struct v8_heap heap;
	struct v8_scripts scripts;
	struct v8_function function;
};

enum { FUNCTION_SCOPE = 2, MODULE_SCOPE = 3, NAMED = 1 << 12, INFERRED = 1 << 14 };

int v8_fixture_setup(void **state);
int v8_fixture_teardown(void **state);
void v8_fixture_put(struct v8_fixture *fixture, uint64_t tagged, size_t offset, uint64_t word);
uint64_t v8_fixture_make_room(struct v8_fixture *fixture, size_t bytes);
uint64_t v8_fixture_map_of(struct v8_fixture *fixture, enum type type);
uint64_t v8_fixture_make(struct v8_fixture *fixture, enum type type, size_t words);
uint64_t v8_fixture_small(int32_t value);
uint64_t v8_fixture_make_string(struct v8_fixture *fixture, const char *text);
uint64_t v8_fixture_make_parts(
	struct v8_fixture *fixture, enum type type, int32_t length, uint64_t first, uint64_t second);
uint64_t v8_fixture_make_script(struct v8_fixture *fixture, uint64_t source, uint64_t name);
/* Variables' words, then what flags say there is, then the start. */
uint64_t v8_fixture_make_scope(
	struct v8_fixture *fixture, uint32_t flags, int32_t variables, const uint64_t *words, size_t count);
uint64_t v8_fixture_make_function(struct v8_fixture *fixture, uint64_t scope, uint64_t script);
/* Code with its two objects: instructions of so many bytes at an address. */
uint64_t v8_fixture_make_code(struct v8_fixture *fixture, uint64_t start, uint32_t size, uint32_t kind, uint64_t data);
uint64_t v8_fixture_make_deoptimization(struct v8_fixture *fixture, uint64_t shared);
