/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/interpret/v8/known.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

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
	TYPE_BYTECODE = 191,
	TYPE_CODE = 245,
	TYPE_STREAM = 252,
	TYPE_SCOPE_INFO = 261,
	TYPE_FUNCTION_INFO = 262,
	TYPE_FUNCTION = 2066,
	TYPES
};

static const struct v8_layout layout = {
	.at = {
		[V8_TYPE_CODE] = TYPE_CODE,
		[V8_TYPE_STREAM] = TYPE_STREAM,
		[V8_TYPE_BYTECODE] = TYPE_BYTECODE,
		[V8_TYPE_FUNCTION_INFO] = TYPE_FUNCTION_INFO,
		[V8_TYPE_INTERPRETER_DATA] = TYPE_INTERPRETER_DATA,
		[V8_TYPE_SCRIPT] = TYPE_SCRIPT,
		[V8_TYPE_SCOPE_INFO] = TYPE_SCOPE_INFO,
		[V8_TYPE_FIXED_ARRAY] = TYPE_ARRAY,
		[V8_MAP_TYPE] = 12,
		[V8_FUNCTION_SHARED] = 24,
		[V8_SHARED_DATA] = 8,
		[V8_SHARED_NAME] = 16,
		[V8_SHARED_SCRIPT] = 32,
		[V8_SCRIPT_SOURCE] = 8,
		[V8_SCRIPT_NAME] = 16,
		[V8_SCRIPT_LINE_OFFSET] = 24,
		[V8_SCRIPT_COLUMN_OFFSET] = 32,
		[V8_SCRIPT_FUNCTIONS] = 88,
		[V8_STRING_LENGTH] = 12,
		[V8_STRING_CHARACTERS] = 16,
		[V8_CONS_FIRST] = 16,
		[V8_CONS_SECOND] = 24,
		[V8_SLICED_PARENT] = 16,
		[V8_SLICED_OFFSET] = 24,
		[V8_THIN_ACTUAL] = 16,
		[V8_EXTERNAL_RESOURCE] = 16,
		[V8_ARRAY_DATA] = 16,
		[V8_STREAM_HEADER] = 16,
		[V8_CODE_START] = 40,
		[V8_CODE_STREAM] = 32,
		[V8_CODE_FLAGS] = 48,
		[V8_CODE_SIZE] = 56,
		[V8_CODE_DATA] = 16,
		[V8_KIND_MASK] = 15,
		[V8_KIND_BASELINE] = 11,
		[V8_DEOPT_SHARED] = 6,
		[V8_SCOPE_VARIABLES] = 3,
	},
	.has_streams = true,
};

struct fixture {
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

static ssize_t fake_read(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	const struct fixture *fixture = context;
	size_t done = 0;

	if (fixture->is_gone)
		return -1;
	for (size_t i = 0; i < from_count; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - BASE;

		if (at >= HEAP_BYTES || from[i].iov_len > HEAP_BYTES - at)
			break;
		assert_true(done + from[i].iov_len <= into->iov_len);
		memcpy((uint8_t *)into->iov_base + done, fixture->bytes + at, from[i].iov_len);
		done += from[i].iov_len;
	}
	return done == 0 ? -1 : (ssize_t)done;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->used = 8;
	fixture->functions.read_memory = fake_read;
	fixture->host = (struct process_host){ &fixture->functions, fixture };
	fixture->heap = (struct v8_heap){ .layout = &layout, .host = &fixture->host, .pid = 1, .reads_left = 100000 };
	v8_scripts_init(&fixture->scripts);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	v8_scripts_deinit(&fixture->scripts);
	free(fixture);
	return 0;
}

static void put(struct fixture *fixture, uint64_t tagged, size_t offset, uint64_t word)
{
	memcpy(fixture->bytes + (tagged - 1 - BASE) + offset, &word, sizeof(word));
}

static uint64_t make_room(struct fixture *fixture, size_t bytes)
{
	uint64_t at = fixture->used;

	fixture->used += (bytes + 7) / 8 * 8;
	assert_true(fixture->used < HEAP_BYTES / 2);
	return BASE + at + 1;
}

static uint64_t map_of(struct fixture *fixture, enum type type)
{
	if (fixture->maps[type] == 0) {
		fixture->maps[type] = make_room(fixture, 40);
		put(fixture, fixture->maps[type], 8, (uint64_t)type << 32);
	}
	return fixture->maps[type];
}

static uint64_t make(struct fixture *fixture, enum type type, size_t words)
{
	uint64_t map = map_of(fixture, type), made = make_room(fixture, (1 + words) * 8);

	put(fixture, made, 0, map);
	return made;
}

static uint64_t small(int32_t value)
{
	return (uint64_t)(uint32_t)value << 32;
}

static uint64_t make_string(struct fixture *fixture, const char *text)
{
	size_t size = strlen(text);
	uint64_t made = make(fixture, TYPE_ONE_BYTE, 1 + size / 8 + 3);

	put(fixture, made, 8, small((int32_t)size));
	memcpy(fixture->bytes + (made - 1 - BASE) + 16, text, size);
	return made;
}

static uint64_t make_parts(struct fixture *fixture, enum type type, int32_t length, uint64_t first, uint64_t second)
{
	uint64_t made = make(fixture, type, 3);

	put(fixture, made, 8, small(length));
	put(fixture, made, 16, first);
	put(fixture, made, 24, second);
	return made;
}

/* NULL: it is no string. */
static void expect_text(struct fixture *fixture, uint64_t tagged, size_t most, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, 1 << 20);
	assert_int_equal(v8_append_string(&fixture->heap, tagged, most, &text), expected != NULL);
	if (expected)
		assert_string_equal(text.data ? text.data : "", expected);
}

static void test_strings(void **state)
{
	static const uint16_t wide[] = { 'g', 0xf6, 0x65e5, 0xd83d, 0xde00, 0xdc00, '\n' };
	struct fixture *fixture = *state;
	uint64_t area = make_string(fixture, "area"), shape = make_string(fixture, "Shape.");
	uint64_t both = make_parts(fixture, TYPE_CONS, 10, shape, area);
	uint64_t thin = make_parts(fixture, TYPE_THIN, 4, area, 0);
	uint64_t wides = make(fixture, TYPE_TWO_BYTE, 4);

	put(fixture, wides, 8, small(7));
	memcpy(fixture->bytes + (wides - 1 - BASE) + 16, wide, sizeof(wide));
	expect_text(fixture, area, 100, "area");
	expect_text(fixture, make_string(fixture, ""), 100, "");
	expect_text(fixture, both, 100, "Shape.area");
	expect_text(fixture, both, 7, "Shape.a");
	expect_text(fixture, thin, 100, "area");
	expect_text(fixture, make_parts(fixture, TYPE_CONS, 14, both, thin), 100, "Shape.areaarea");
	expect_text(fixture, make_parts(fixture, TYPE_SLICED, 3, thin, small(1)), 100, "rea");
	expect_text(fixture, make_parts(fixture, TYPE_EXTERNAL, 4, 0, area - 1 + 16), 100, "area");
	expect_text(fixture, wides, 100, "gö日😀\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_strings_that_mean_harm(void **state)
{
	struct fixture *fixture = *state;
	uint64_t area = make_string(fixture, "area");
	uint64_t circle = make_parts(fixture, TYPE_CONS, 1 << 20, 0, 0);
	uint64_t thin = make_parts(fixture, TYPE_THIN, 4, 0, 0);
	uint64_t sliced = make_parts(fixture, TYPE_SLICED, 4, 0, small(0));

	put(fixture, circle, 16, circle);
	put(fixture, circle, 24, circle);
	put(fixture, thin, 16, thin);
	put(fixture, sliced, 16, sliced);
	expect_text(fixture, circle, 100, NULL);
	expect_text(fixture, thin, 100, NULL);
	expect_text(fixture, sliced, 100, NULL);
	expect_text(fixture, make_parts(fixture, TYPE_SLICED, 3, area, small(2)), 100, NULL);
	expect_text(fixture, make_parts(fixture, TYPE_SLICED, 3, area, small(-1)), 100, NULL);
	expect_text(fixture, make_parts(fixture, TYPE_ONE_BYTE, -1, 0, 0), 100, NULL);
	expect_text(fixture, make_parts(fixture, TYPE_ONE_BYTE, INT32_MAX, 0, 0), 1 << 30, NULL);
	expect_text(fixture, make_parts(fixture, TYPE_EXTERNAL, 1 << 20, 0, 0), 1 << 30, NULL);
	expect_text(fixture, make_parts(fixture, TYPE_UNCACHED, 4, 0, area - 1 + 16), 100, NULL);
	expect_text(fixture, make(fixture, TYPE_ODDBALL, 3), 100, NULL);
	expect_text(fixture, 0, 100, NULL);
	expect_text(fixture, UINT64_MAX, 100, NULL);
	expect_text(fixture, BASE + HEAP_BYTES + 1, 100, NULL);
	fixture->heap.reads_left = 2;
	expect_text(fixture, make_parts(fixture, TYPE_CONS, 8, area, area), 100, NULL);
	assert_int_equal(fixture->heap.reads_left, 0);
}

/* ---- Functions ---- */

static uint64_t make_script(struct fixture *fixture, uint64_t source, uint64_t name)
{
	uint64_t script = make(fixture, TYPE_SCRIPT, 15);

	put(fixture, script, 8, source);
	put(fixture, script, 16, name);
	return script;
}

enum { FUNCTION_SCOPE = 2, MODULE_SCOPE = 3, NAMED = 1 << 12, INFERRED = 1 << 14 };

/* Variables' words, then what flags say there is, then the start. */
static uint64_t make_scope(
	struct fixture *fixture, uint32_t flags, int32_t variables, const uint64_t *words, size_t count)
{
	size_t named = variables < 75 ? (size_t)variables : 1;
	size_t at = 3 + ((flags & 15) == MODULE_SCOPE) + named + (size_t)variables;
	uint64_t scope = make(fixture, TYPE_SCOPE_INFO, at + count + 4);

	put(fixture, scope, 8, small((int32_t)flags));
	put(fixture, scope, 24, small(variables));
	for (size_t i = 0; i < count; i++)
		put(fixture, scope, 8 + 8 * (at + i), words[i]);
	return scope;
}

static uint64_t make_function(struct fixture *fixture, uint64_t scope, uint64_t script)
{
	uint64_t shared = make(fixture, TYPE_FUNCTION_INFO, 8);

	put(fixture, shared, 16, scope);
	put(fixture, shared, 32, script);
	return shared;
}

/* NULL: it is no function. */
static void expect_described(struct fixture *fixture, uint64_t shared, const char *name, uint32_t line)
{
	struct error err;
	bool found;

	assert_true(v8_read_function(&fixture->heap, &fixture->scripts, shared, &fixture->function, &found, &err));
	assert_int_equal(found, name != NULL);
	if (!name)
		return;
	assert_string_equal(fixture->function.name, name);
	assert_int_equal(fixture->function.line, line);
}

static void test_functions(void **state)
{
	struct fixture *fixture = *state;
	uint64_t path = make_string(fixture, "/srv/shape.js"), none = make(fixture, TYPE_ODDBALL, 3);
	uint64_t script = make_script(fixture, make_string(fixture, "ab\r\ncd\ref\ngh"), path);
	uint64_t area = make_string(fixture, "area"), empty = make_string(fixture, "");
	uint64_t inferred = make_string(fixture, "Shape.area");

#define SCOPE(flags, variables, ...)                                                                                   \
	make_function(fixture,                                                                                         \
		make_scope(fixture, flags, variables, (const uint64_t[]){ __VA_ARGS__ },                               \
			sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8),                                                \
		script)
	expect_described(
		fixture, SCOPE(FUNCTION_SCOPE | NAMED, 0, area, small(0), small(1)), "area /srv/shape.js:1:2", 1);
	expect_described(
		fixture, SCOPE(FUNCTION_SCOPE | NAMED, 3, area, small(0), small(4)), "area /srv/shape.js:2:1", 2);
	expect_described(
		fixture, SCOPE(FUNCTION_SCOPE | NAMED, 200, area, small(0), small(8)), "area /srv/shape.js:3:2", 3);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | NAMED | INFERRED, 0, empty, small(0), inferred, small(10)),
		"Shape.area /srv/shape.js:4:1", 4);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | INFERRED, 0, none, small(10000)), " /srv/shape.js:4:9991", 4);
	expect_described(fixture, SCOPE(MODULE_SCOPE, 2, small(0)), " /srv/shape.js:1:1", 1);
	put(fixture, script, 24, small(10));
	put(fixture, script, 32, small(5));
	script = make_script(fixture, none, none);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | NAMED, 0, area, small(0), small(1)), "area ", 0);
	expect_described(fixture, make_function(fixture, none, script), NULL, 0);
	expect_described(fixture, make_function(fixture, make_scope(fixture, 2, 0, NULL, 0), none), NULL, 0);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | NAMED, 0, none, small(0), small(1)), NULL, 0);
	expect_described(fixture, script, NULL, 0);
#undef SCOPE
}

/* Node 18 and 20 do not have the count of a module's variables before these. */
static void test_module_of_an_old_version(void **state)
{
	struct fixture *fixture = *state;
	uint64_t script = make_script(fixture, make_string(fixture, "a\nb"), make_string(fixture, "a.mjs"));
	uint64_t scope = make(fixture, TYPE_SCOPE_INFO, 10);

	put(fixture, scope, 8, small(MODULE_SCOPE));
	put(fixture, scope, 24, small(1));
	put(fixture, scope, 32, make_string(fixture, "v"));
	put(fixture, scope, 48, small(0));
	put(fixture, scope, 56, small(3));
	expect_described(fixture, make_function(fixture, scope, script), " a.mjs:1:1", 1);
}

/* When enough has been read for now, a script is not believed to have no lines. */
static void test_reading_is_bounded(void **state)
{
	struct fixture *fixture = *state;
	uint64_t script = make_script(fixture, make_string(fixture, "a\nb"), make_string(fixture, "a.js"));
	uint64_t scope = make_scope(fixture, FUNCTION_SCOPE, 0, (const uint64_t[]){ small(2) }, 1);
	uint64_t shared = make_function(fixture, scope, script);

	struct error err;
	bool found = false;

	for (uint32_t reads = 0; !found; reads++) {
		assert_true(reads < 100);
		fixture->heap.reads_left = reads;
		assert_true(
			v8_read_function(&fixture->heap, &fixture->scripts, shared, &fixture->function, &found, &err));
	}
	assert_string_equal(fixture->function.name, " a.js:2:1");
}

static void test_scope_with_too_many_variables(void **state)
{
	struct fixture *fixture = *state;
	uint64_t scope = make(fixture, TYPE_SCOPE_INFO, 8);
	uint64_t script = make_script(fixture, make_string(fixture, ""), make_string(fixture, "a.js"));

	put(fixture, scope, 24, small(INT32_MAX));
	expect_described(fixture, make_function(fixture, scope, script), NULL, 0);
	put(fixture, scope, 24, small(-1));
	expect_described(fixture, make_function(fixture, scope, script), NULL, 0);
}

/* ---- From frames to functions ---- */

static void test_bytecode(void **state)
{
	struct fixture *fixture = *state;
	uint64_t bytecode = make(fixture, TYPE_BYTECODE, 3), code = make(fixture, TYPE_CODE, 9);
	uint64_t data = make(fixture, TYPE_INTERPRETER_DATA, 2), shared = make_function(fixture, 0, 0);
	uint64_t function = make(fixture, TYPE_FUNCTION, 8), moved = make(fixture, TYPE_FUNCTION, 8);

	put(fixture, shared, 8, bytecode);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == bytecode);
	put(fixture, shared, 8, code);
	put(fixture, code, 16, data);
	put(fixture, data, 8, bytecode);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == bytecode);
	put(fixture, data, 8, data);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == 0);
	put(fixture, code, 16, code);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == 0);
	assert_true(v8_bytecode_of(&fixture->heap, bytecode, NULL) == 0);
	put(fixture, function, 24, shared);
	assert_true(v8_shared_of(&fixture->heap, function) == shared);
	put(fixture, moved, 0, function - 1);
	assert_true(v8_shared_of(&fixture->heap, moved) == shared);
	assert_true(v8_shared_of(&fixture->heap, BASE - 7) == 0);
}

/* Code with its two objects: instructions of so many bytes at an address. */
static uint64_t make_code(struct fixture *fixture, uint64_t start, uint32_t size, uint32_t kind, uint64_t data)
{
	uint64_t code = make(fixture, TYPE_CODE, 9), stream = start - 16 + 1;

	put(fixture, stream, 0, map_of(fixture, TYPE_STREAM));
	put(fixture, stream, 8, code);
	put(fixture, code, 16, data);
	put(fixture, code, 32, stream);
	put(fixture, code, 40, start);
	put(fixture, code, 48, kind);
	put(fixture, code, 56, size);
	return code;
}

static uint64_t make_deoptimization(struct fixture *fixture, uint64_t shared)
{
	uint64_t data = make(fixture, TYPE_ARRAY, 10);

	put(fixture, data, 16 + 6 * 8, shared);
	return data;
}

static void test_code(void **state)
{
	struct fixture *fixture = *state;
	uint64_t shared = make_function(fixture, 0, 0), bytecode = make(fixture, TYPE_BYTECODE, 3), broken;
	struct v8_code code;

	make_code(fixture, CODE_AT + 0x1000, 0x3000, 13, make_deoptimization(fixture, shared));
	make_code(fixture, CODE_AT + 0x4040, 0x100, 11, bytecode);
	make_code(fixture, CODE_AT + 0x4180, 0x100, 2, 0);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x1000, &code));
	assert_int_equal(code.tier, V8_TURBOFAN);
	assert_true(code.shared == shared);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x3fff, &code));
	assert_true(code.start == CODE_AT + 0x1000 && code.end == CODE_AT + 0x4000);
	assert_false(v8_find_code(&fixture->heap, CODE_AT + 0x4000, &code));
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x40c0, &code));
	assert_int_equal(code.tier, V8_BASELINE);
	assert_true(code.bytecode == bytecode);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x4190, &code));
	assert_int_equal(code.tier, V8_NO_FUNCTION);
	assert_false(v8_find_code(&fixture->heap, 0x1234, &code));
	assert_false(v8_find_code(&fixture->heap, UINT64_MAX, &code));
	/* What looks like a header is none without an object that confirms it: the one before it has the address. */
	broken = make_code(fixture, CODE_AT + 0x2000, 0x100, 13, 0);
	put(fixture, broken, 40, 0);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x2004, &code));
	assert_true(code.start == CODE_AT + 0x1000);
}

static void test_regular_expressions(void **state)
{
	struct fixture *fixture = *state;
	uint64_t described = make_code(fixture, CODE_AT + 0x1000, 0x100, 3, 0);
	uint64_t data = make(fixture, TYPE_ARRAY, 15), regexp = make(fixture, TYPE_ODDBALL, 15);
	uint64_t words[] = { 0, CODE_AT, CODE_AT + 1, described, regexp };
	struct v8_code code;
	CLEANUP(buffer_deinit) struct buffer out = { 0 };

	buffer_init(&out, 1000);
	put(fixture, data, 8, small(10));
	put(fixture, data, 24, make_string(fixture, "a+b"));
	put(fixture, data, 40, described);
	put(fixture, regexp, 24, data);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x1008, &code));
	assert_int_equal(code.tier, V8_REGEXP);
	assert_false(v8_append_regexp(&fixture->heap, &code, words, 4, &out));
	assert_true(v8_append_regexp(&fixture->heap, &code, words, 5, &out));
	assert_string_equal(out.data, "a+b");
	put(fixture, data, 40, 0);
	assert_false(v8_append_regexp(&fixture->heap, &code, words, 5, &out));
	put(fixture, data, 40, described);
	put(fixture, data, 24, regexp);
	assert_false(v8_append_regexp(&fixture->heap, &code, words, 5, &out));
	assert_int_equal(out.size, 3);
}

static uint64_t make_listed(struct fixture *fixture, uint64_t script, const uint64_t *functions, size_t count)
{
	uint64_t list = make(fixture, TYPE_ARRAY, 2 + count);

	put(fixture, list, 8, small((int32_t)count));
	for (size_t i = 0; i < count; i++)
		put(fixture, list, 16 + 8 * i, functions[i] + 2);
	put(fixture, script, 88, list);
	return list;
}

static void test_lists_of_functions(void **state)
{
	struct fixture *fixture = *state;
	uint64_t script = make_script(fixture, 0, 0), bytecode = make(fixture, TYPE_BYTECODE, 3);
	uint64_t code = make(fixture, TYPE_CODE, 9), functions[100], list;
	struct v8_listed *listed = NULL;
	size_t count = 0, capacity = 0;
	struct error err;

	for (size_t i = 0; i < 100; i++)
		functions[i] = i == 50 ? bytecode : make_function(fixture, 0, 0);
	put(fixture, functions[3], 8, bytecode);
	put(fixture, functions[99], 8, code);
	put(fixture, code, 16, bytecode);
	list = make_listed(fixture, script, functions, 100);
	assert_true(v8_list_functions(&fixture->heap, script, 10, &listed, &count, &capacity, &err));
	assert_int_equal(count, 2);
	assert_true(listed[0].shared == functions[3] && listed[0].bytecode == bytecode);
	assert_true(listed[1].shared == functions[99] && listed[1].bytecode == bytecode);
	assert_true(v8_list_functions(&fixture->heap, script, 3, &listed, &count, &capacity, &err));
	assert_int_equal(count, 3);
	put(fixture, list, 8, small(-1));
	assert_true(v8_list_functions(&fixture->heap, script, 10, &listed, &count, &capacity, &err));
	put(fixture, script, 88, 12345);
	assert_true(v8_list_functions(&fixture->heap, script, 10, &listed, &count, &capacity, &err));
	assert_int_equal(count, 3);
	free(listed);
}

/* ---- What is known ---- */

/* What is known of generated code at an address. */
static void expect_code(struct v8_known *known, uint64_t address, enum v8_tier tier, uint32_t id)
{
	const struct unwind_stack_dump dump = { 0 };
	const struct v8_frame frame = { .address = address, .dump = &dump };
	enum v8_tier found_tier;
	uint32_t found;
	struct error err;

	assert_true(v8_known_by_code(known, &frame, &found_tier, &found, &err));
	assert_int_equal(found_tier, tier);
	assert_int_equal(found, id);
}

/* A function that is interpreted, baseline code and optimized code. */
static void test_known(void **state)
{
	struct fixture *fixture = *state;
	uint64_t script = make_script(fixture, make_string(fixture, "x"), make_string(fixture, "a.js"));
	uint64_t name = make_string(fixture, "f"), bytecode = make(fixture, TYPE_BYTECODE, 3);
	uint64_t shared = make_function(fixture,
		make_scope(fixture, FUNCTION_SCOPE | NAMED, 0, (const uint64_t[]){ name, 0, small(0) }, 3), script);
	uint64_t function = make(fixture, TYPE_FUNCTION, 8);
	const uint64_t second = 1000000000;
	struct v8_known *known;
	struct error err;
	uint32_t id;

	put(fixture, shared, 8, bytecode);
	put(fixture, function, 24, shared);
	make_code(fixture, CODE_AT + 0x1000, 0x100, 13, make_deoptimization(fixture, shared));
	make_code(fixture, CODE_AT + 0x1140, 0x100, 11, bytecode);
	assert_true(v8_known_create(1, &known, &err));
	v8_known_begin(known, &layout, &fixture->host, second);
	assert_true(v8_known_by_bytecode(known, bytecode, 0, &id, &err));
	assert_int_equal(id, PROFILE_NONE);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &id, &err));
	assert_int_equal(id, 0);
	assert_string_equal(known->functions[0].name, "f a.js:1:1");
	/* The function has moved, and what is known remains true. */
	put(fixture, function, 24, 0);
	v8_known_begin(known, &layout, &fixture->host, 3 * second);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &id, &err));
	assert_int_equal(id, 0);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	expect_code(known, CODE_AT + 0x1150, V8_BASELINE, 0);
	/* The process has ended: what is known of it remains true. */
	fixture->is_gone = true;
	v8_known_begin(known, &layout, &fixture->host, 4 * second + 2);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &id, &err));
	assert_int_equal(id, 0);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	fixture->is_gone = false;
	v8_known_begin(known, &layout, &fixture->host, 5 * second);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	/* Other code is where that was: it counts from the next look on. */
	put(fixture, CODE_AT + 0x1000 - 16 + 1, 0, 0);
	v8_known_begin(known, &layout, &fixture->host, 5 * second + 1);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	v8_known_begin(known, &layout, &fixture->host, 8 * second);
	expect_code(known, CODE_AT + 0x1010, V8_NO_FUNCTION, PROFILE_NONE);
	v8_known_destroy(known);
}

/* A bytecode whose function was not read in time is found in the list of a script that is known. */
static void test_known_by_list(void **state)
{
	struct fixture *fixture = *state;
	uint64_t script = make_script(fixture, make_string(fixture, "x"), make_string(fixture, "a.js"));
	uint64_t name = make_string(fixture, "f"), bytecodes[2], functions[2];
	uint64_t function = make(fixture, TYPE_FUNCTION, 8);
	struct v8_known *known;
	struct error err;
	uint32_t id;

	for (size_t i = 0; i < 2; i++) {
		bytecodes[i] = make(fixture, TYPE_BYTECODE, 3);
		functions[i] = make_function(fixture,
			make_scope(fixture, FUNCTION_SCOPE | NAMED, 0, (const uint64_t[]){ name, 0, small(0) }, 3),
			script);
		put(fixture, functions[i], 8, bytecodes[i]);
	}
	make_listed(fixture, script, functions, 2);
	put(fixture, function, 24, functions[0]);
	assert_true(v8_known_create(1, &known, &err));
	v8_known_begin(known, &layout, &fixture->host, 1000000000);
	assert_true(v8_known_by_bytecode(known, bytecodes[1], 0, &id, &err));
	assert_int_equal(id, PROFILE_NONE);
	assert_true(v8_known_by_bytecode(known, bytecodes[0], function, &id, &err));
	assert_int_equal(id, 0);
	assert_true(v8_known_by_bytecode(known, bytecodes[1], 0, &id, &err));
	assert_int_equal(id, 1);
	/* Both are looked at together when the next sample comes, so that neither needs to be read by itself. */
	v8_known_begin(known, &layout, &fixture->host, 4000000000);
	known->heap.reads_left = 0;
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(v8_known_by_bytecode(known, bytecodes[i], 0, &id, &err));
		assert_int_equal(id, i);
	}
	put(fixture, functions[1], 8, 0);
	v8_known_begin(known, &layout, &fixture->host, 8000000000);
	assert_true(v8_known_by_bytecode(known, bytecodes[0], 0, &id, &err));
	assert_int_equal(id, 0);
	assert_true(v8_known_by_bytecode(known, bytecodes[1], 0, &id, &err));
	assert_int_equal(id, PROFILE_NONE);
	v8_known_destroy(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strings_that_mean_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module_of_an_old_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reading_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scope_with_too_many_variables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bytecode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_regular_expressions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lists_of_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_known_by_list, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
