/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"
#include "v8_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* NULL: it is no string. */
static void expect_text(struct v8_fixture *fixture, uint64_t tagged, size_t most, const char *expected)
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
	struct v8_fixture *fixture = *state;
	uint64_t area = v8_fixture_make_string(fixture, "area"), shape = v8_fixture_make_string(fixture, "Shape.");
	uint64_t both = v8_fixture_make_parts(fixture, TYPE_CONS, 10, shape, area);
	uint64_t thin = v8_fixture_make_parts(fixture, TYPE_THIN, 4, area, 0);
	uint64_t wides = v8_fixture_make(fixture, TYPE_TWO_BYTE, 4);

	v8_fixture_put(fixture, wides, 8, v8_fixture_small(7));
	memcpy(fixture->bytes + (wides - 1 - BASE) + 16, wide, sizeof(wide));
	expect_text(fixture, area, 100, "area");
	expect_text(fixture, v8_fixture_make_string(fixture, ""), 100, "");
	expect_text(fixture, both, 100, "Shape.area");
	expect_text(fixture, both, 7, "Shape.a");
	expect_text(fixture, thin, 100, "area");
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_CONS, 14, both, thin), 100, "Shape.areaarea");
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_SLICED, 3, thin, v8_fixture_small(1)), 100, "rea");
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_EXTERNAL, 4, 0, area - 1 + 16), 100, "area");
	expect_text(fixture, wides, 100, "gö日😀\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_strings_that_mean_harm(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t area = v8_fixture_make_string(fixture, "area");
	uint64_t circle = v8_fixture_make_parts(fixture, TYPE_CONS, 1 << 20, 0, 0);
	uint64_t thin = v8_fixture_make_parts(fixture, TYPE_THIN, 4, 0, 0);
	uint64_t sliced = v8_fixture_make_parts(fixture, TYPE_SLICED, 4, 0, v8_fixture_small(0));

	v8_fixture_put(fixture, circle, 16, circle);
	v8_fixture_put(fixture, circle, 24, circle);
	v8_fixture_put(fixture, thin, 16, thin);
	v8_fixture_put(fixture, sliced, 16, sliced);
	expect_text(fixture, circle, 100, NULL);
	expect_text(fixture, thin, 100, NULL);
	expect_text(fixture, sliced, 100, NULL);
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_SLICED, 3, area, v8_fixture_small(2)), 100, NULL);
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_SLICED, 3, area, v8_fixture_small(-1)), 100, NULL);
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_ONE_BYTE, -1, 0, 0), 100, NULL);
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_ONE_BYTE, INT32_MAX, 0, 0), 1 << 30, NULL);
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_EXTERNAL, 1 << 20, 0, 0), 1 << 30, NULL);
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_UNCACHED, 4, 0, area - 1 + 16), 100, NULL);
	expect_text(fixture, v8_fixture_make(fixture, TYPE_ODDBALL, 3), 100, NULL);
	expect_text(fixture, 0, 100, NULL);
	expect_text(fixture, UINT64_MAX, 100, NULL);
	expect_text(fixture, BASE + HEAP_BYTES + 1, 100, NULL);
	fixture->heap.reads_left = 2;
	expect_text(fixture, v8_fixture_make_parts(fixture, TYPE_CONS, 8, area, area), 100, NULL);
	assert_int_equal(fixture->heap.reads_left, 0);
}

static void own(struct process_table *table, int32_t pid, uint64_t account)
{
	struct process *process;
	struct error err;

	assert_true(process_table_get(table, pid, &process, &err));
	process->owner = owners_find(&table->owners, account);
}

/* However many processes an account has, another one's are read. */
static void test_an_account_pays_for_all_of_its_reads(void **state)
{
	struct v8_fixture *fixture = *state;
	void *processes;
	struct process_table *table;
	unsigned int reads = 0;
	uint64_t word;

	fixture_setup(&processes);
	table = fixture->heap.table = &((struct fixture *)processes)->table;
	own(table, PID, 1000);
	own(table, CHILD, 54321);
	own(table, CHILD + 1, 54321);
	fixture->heap.reads_left = UINT32_MAX;
	do
		fixture->heap.pid = CHILD + (int32_t)(reads % 2);
	while (v8_read(&fixture->heap, BASE, &word, sizeof(word)) && ++reads < 4 * OWNER_MOST_READS);
	assert_in_range(reads, OWNER_MOST_READS, 2 * OWNER_MOST_READS);
	fixture->heap.pid = PID;
	fixture->heap.reads_left = 100;
	assert_true(v8_read(&fixture->heap, BASE, &word, sizeof(word)));
	fixture_teardown(&processes);
}

/* NULL: it is no function. */
static void expect_described(struct v8_fixture *fixture, uint64_t shared, const char *name, uint32_t line)
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
	struct v8_fixture *fixture = *state;
	uint64_t path = v8_fixture_make_string(fixture, "/srv/shape.js"),
		 none = v8_fixture_make(fixture, TYPE_ODDBALL, 3);
	uint64_t script = v8_fixture_make_script(fixture, v8_fixture_make_string(fixture, "ab\r\ncd\ref\ngh"), path);
	uint64_t area = v8_fixture_make_string(fixture, "area"), empty = v8_fixture_make_string(fixture, "");
	uint64_t inferred = v8_fixture_make_string(fixture, "Shape.area");

#define SCOPE(flags, variables, ...)                                                                                   \
	v8_fixture_make_function(fixture,                                                                              \
		v8_fixture_make_scope(fixture, flags, variables, (const uint64_t[]){ __VA_ARGS__ },                    \
			sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8),                                                \
		script)
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | NAMED, 0, area, v8_fixture_small(0), v8_fixture_small(1)),
		"area /srv/shape.js:1:2", 1);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | NAMED, 3, area, v8_fixture_small(0), v8_fixture_small(4)),
		"area /srv/shape.js:2:1", 2);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | NAMED, 200, area, v8_fixture_small(0), v8_fixture_small(8)),
		"area /srv/shape.js:3:2", 3);
	expect_described(fixture,
		SCOPE(FUNCTION_SCOPE | NAMED | INFERRED, 0, empty, v8_fixture_small(0), inferred, v8_fixture_small(10)),
		"Shape.area /srv/shape.js:4:1", 4);
	expect_described(fixture, SCOPE(FUNCTION_SCOPE | INFERRED, 0, none, v8_fixture_small(10000)),
		" /srv/shape.js:4:9991", 4);
	expect_described(fixture, SCOPE(MODULE_SCOPE, 2, v8_fixture_small(0)), " /srv/shape.js:1:1", 1);
	v8_fixture_put(fixture, script, 24, v8_fixture_small(10));
	v8_fixture_put(fixture, script, 32, v8_fixture_small(5));
	script = v8_fixture_make_script(fixture, none, none);
	expect_described(
		fixture, SCOPE(FUNCTION_SCOPE | NAMED, 0, area, v8_fixture_small(0), v8_fixture_small(1)), "area ", 0);
	expect_described(fixture, v8_fixture_make_function(fixture, none, script), NULL, 0);
	expect_described(fixture,
		v8_fixture_make_function(fixture, v8_fixture_make_scope(fixture, 2, 0, NULL, 0), none), NULL, 0);
	expect_described(
		fixture, SCOPE(FUNCTION_SCOPE | NAMED, 0, none, v8_fixture_small(0), v8_fixture_small(1)), NULL, 0);
	expect_described(fixture, script, NULL, 0);
#undef SCOPE
}

/* Node 18 and 20 do not have the count of a module's variables before these. */
static void test_module_of_an_old_version(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(
		fixture, v8_fixture_make_string(fixture, "a\nb"), v8_fixture_make_string(fixture, "a.mjs"));
	uint64_t scope = v8_fixture_make(fixture, TYPE_SCOPE_INFO, 10);

	v8_fixture_put(fixture, scope, 8, v8_fixture_small(MODULE_SCOPE));
	v8_fixture_put(fixture, scope, 24, v8_fixture_small(1));
	v8_fixture_put(fixture, scope, 32, v8_fixture_make_string(fixture, "v"));
	v8_fixture_put(fixture, scope, 48, v8_fixture_small(0));
	v8_fixture_put(fixture, scope, 56, v8_fixture_small(3));
	expect_described(fixture, v8_fixture_make_function(fixture, scope, script), " a.mjs:1:1", 1);
}

/* When enough has been read for now, a script is not believed to have no lines. */
static void test_reading_is_bounded(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(
		fixture, v8_fixture_make_string(fixture, "a\nb"), v8_fixture_make_string(fixture, "a.js"));
	uint64_t scope =
		v8_fixture_make_scope(fixture, FUNCTION_SCOPE, 0, (const uint64_t[]){ v8_fixture_small(2) }, 1);
	uint64_t shared = v8_fixture_make_function(fixture, scope, script);

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
	struct v8_fixture *fixture = *state;
	uint64_t scope = v8_fixture_make(fixture, TYPE_SCOPE_INFO, 8);
	uint64_t script = v8_fixture_make_script(
		fixture, v8_fixture_make_string(fixture, ""), v8_fixture_make_string(fixture, "a.js"));

	v8_fixture_put(fixture, scope, 24, v8_fixture_small(INT32_MAX));
	expect_described(fixture, v8_fixture_make_function(fixture, scope, script), NULL, 0);
	v8_fixture_put(fixture, scope, 24, v8_fixture_small(-1));
	expect_described(fixture, v8_fixture_make_function(fixture, scope, script), NULL, 0);
}

/* ---- From frames to functions ---- */

static void test_bytecode(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t bytecode = v8_fixture_make(fixture, TYPE_BYTECODE, 3), code = v8_fixture_make(fixture, TYPE_CODE, 9);
	uint64_t data = v8_fixture_make(fixture, TYPE_INTERPRETER_DATA, 2),
		 shared = v8_fixture_make_function(fixture, 0, 0);
	uint64_t function = v8_fixture_make(fixture, TYPE_FUNCTION, 8),
		 moved = v8_fixture_make(fixture, TYPE_FUNCTION, 8);

	v8_fixture_put(fixture, shared, 8, bytecode);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == bytecode);
	v8_fixture_put(fixture, shared, 8, code);
	v8_fixture_put(fixture, code, 16, data);
	v8_fixture_put(fixture, data, 8, bytecode);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == bytecode);
	v8_fixture_put(fixture, data, 8, data);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == 0);
	v8_fixture_put(fixture, code, 16, code);
	assert_true(v8_bytecode_of(&fixture->heap, shared, NULL) == 0);
	assert_true(v8_bytecode_of(&fixture->heap, bytecode, NULL) == 0);
	v8_fixture_put(fixture, function, 24, shared);
	assert_true(v8_shared_of(&fixture->heap, function) == shared);
	v8_fixture_put(fixture, moved, 0, function - 1);
	assert_true(v8_shared_of(&fixture->heap, moved) == shared);
	assert_true(v8_shared_of(&fixture->heap, BASE - 7) == 0);
}

static void test_code(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t shared = v8_fixture_make_function(fixture, 0, 0),
		 bytecode = v8_fixture_make(fixture, TYPE_BYTECODE, 3), broken;
	struct v8_code code;

	v8_fixture_make_code(fixture, CODE_AT + 0x1000, 0x3000, 13, v8_fixture_make_deoptimization(fixture, shared));
	v8_fixture_make_code(fixture, CODE_AT + 0x4040, 0x100, 11, bytecode);
	v8_fixture_make_code(fixture, CODE_AT + 0x4180, 0x100, 2, 0);
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
	broken = v8_fixture_make_code(fixture, CODE_AT + 0x2000, 0x100, 13, 0);
	v8_fixture_put(fixture, broken, 40, 0);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x2004, &code));
	assert_true(code.start == CODE_AT + 0x1000);
}

static void test_regular_expressions(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t described = v8_fixture_make_code(fixture, CODE_AT + 0x1000, 0x100, 3, 0);
	uint64_t data = v8_fixture_make(fixture, TYPE_ARRAY, 15), regexp = v8_fixture_make(fixture, TYPE_ODDBALL, 15);
	uint64_t words[] = { 0, CODE_AT, CODE_AT + 1, described, regexp };
	struct v8_code code;
	CLEANUP(buffer_deinit) struct buffer out = { 0 };

	buffer_init(&out, 1000);
	v8_fixture_put(fixture, data, 8, v8_fixture_small(10));
	v8_fixture_put(fixture, data, 24, v8_fixture_make_string(fixture, "a+b"));
	v8_fixture_put(fixture, data, 40, described);
	v8_fixture_put(fixture, regexp, 24, data);
	assert_true(v8_find_code(&fixture->heap, CODE_AT + 0x1008, &code));
	assert_int_equal(code.tier, V8_REGEXP);
	assert_false(v8_append_regexp(&fixture->heap, &code, words, 4, &out));
	assert_true(v8_append_regexp(&fixture->heap, &code, words, 5, &out));
	assert_string_equal(out.data, "a+b");
	v8_fixture_put(fixture, data, 40, 0);
	assert_false(v8_append_regexp(&fixture->heap, &code, words, 5, &out));
	v8_fixture_put(fixture, data, 40, described);
	v8_fixture_put(fixture, data, 24, regexp);
	assert_false(v8_append_regexp(&fixture->heap, &code, words, 5, &out));
	assert_int_equal(out.size, 3);
}

static uint64_t make_listed(struct v8_fixture *fixture, uint64_t script, const uint64_t *functions, size_t count)
{
	uint64_t list = v8_fixture_make(fixture, TYPE_ARRAY, 2 + count);

	v8_fixture_put(fixture, list, 8, v8_fixture_small((int32_t)count));
	for (size_t i = 0; i < count; i++)
		v8_fixture_put(fixture, list, 16 + 8 * i, functions[i] + 2);
	v8_fixture_put(fixture, script, 88, list);
	return list;
}

static void test_lists_of_functions(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(fixture, 0, 0), bytecode = v8_fixture_make(fixture, TYPE_BYTECODE, 3);
	uint64_t code = v8_fixture_make(fixture, TYPE_CODE, 9), functions[100], list;
	struct v8_listed *listed = NULL;
	size_t count = 0, capacity = 0;
	struct error err;

	for (size_t i = 0; i < 100; i++)
		functions[i] = i == 50 ? bytecode : v8_fixture_make_function(fixture, 0, 0);
	v8_fixture_put(fixture, functions[3], 8, bytecode);
	v8_fixture_put(fixture, functions[99], 8, code);
	v8_fixture_put(fixture, code, 16, bytecode);
	list = make_listed(fixture, script, functions, 100);
	assert_true(v8_list_functions(&fixture->heap, script, 10, &listed, &count, &capacity, &err));
	assert_int_equal(count, 2);
	assert_true(listed[0].shared == functions[3] && listed[0].bytecode == bytecode);
	assert_true(listed[1].shared == functions[99] && listed[1].bytecode == bytecode);
	assert_true(v8_list_functions(&fixture->heap, script, 3, &listed, &count, &capacity, &err));
	assert_int_equal(count, 3);
	v8_fixture_put(fixture, list, 8, v8_fixture_small(-1));
	assert_true(v8_list_functions(&fixture->heap, script, 10, &listed, &count, &capacity, &err));
	v8_fixture_put(fixture, script, 88, 12345);
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
	struct v8_code code;
	uint32_t found;
	struct error err;

	assert_true(v8_known_by_code(known, &frame, &code, &found, &err));
	assert_int_equal(code.tier, tier);
	assert_int_equal(found, id);
}

/* A function that is interpreted, baseline code and optimized code. */
static void test_known(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(
		fixture, v8_fixture_make_string(fixture, "x"), v8_fixture_make_string(fixture, "a.js"));
	uint64_t name = v8_fixture_make_string(fixture, "f"), bytecode = v8_fixture_make(fixture, TYPE_BYTECODE, 3);
	uint64_t shared = v8_fixture_make_function(fixture,
		v8_fixture_make_scope(
			fixture, FUNCTION_SCOPE | NAMED, 0, (const uint64_t[]){ name, 0, v8_fixture_small(0) }, 3),
		script);
	uint64_t function = v8_fixture_make(fixture, TYPE_FUNCTION, 8);
	const uint64_t second = 1000000000;
	struct v8_known *known;
	struct error err;
	uint32_t id;

	v8_fixture_put(fixture, shared, 8, bytecode);
	v8_fixture_put(fixture, function, 24, shared);
	v8_fixture_make_code(fixture, CODE_AT + 0x1000, 0x100, 13, v8_fixture_make_deoptimization(fixture, shared));
	v8_fixture_make_code(fixture, CODE_AT + 0x1140, 0x100, 11, bytecode);
	assert_true(v8_known_create(1, &known, &err));
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, second);
	assert_true(v8_known_by_bytecode(known, bytecode, 0, &id, &err));
	assert_int_equal(id, PROFILE_NONE);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &id, &err));
	assert_int_equal(id, 0);
	assert_string_equal(known->functions[0].name, "f a.js:1:1");
	/* The function has moved, and what is known remains true. */
	v8_fixture_put(fixture, function, 24, 0);
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 3 * second);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &id, &err));
	assert_int_equal(id, 0);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	expect_code(known, CODE_AT + 0x1150, V8_BASELINE, 0);
	/* The process has ended: what is known of it remains true. */
	fixture->is_gone = true;
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 4 * second + 2);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &id, &err));
	assert_int_equal(id, 0);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	fixture->is_gone = false;
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 5 * second);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	/* Other code is where that was: it counts from the next look on. */
	v8_fixture_put(fixture, CODE_AT + 0x1000 - 16 + 1, 0, 0);
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 5 * second + 1);
	expect_code(known, CODE_AT + 0x1010, V8_TURBOFAN, 0);
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 8 * second);
	expect_code(known, CODE_AT + 0x1010, V8_NO_FUNCTION, PROFILE_NONE);
	v8_known_destroy(known);
}

/* A bytecode whose function was not read in time is found in the list of a script that is known. */
static void test_known_by_list(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(
		fixture, v8_fixture_make_string(fixture, "x"), v8_fixture_make_string(fixture, "a.js"));
	uint64_t name = v8_fixture_make_string(fixture, "f"), bytecodes[2], functions[2];
	uint64_t function = v8_fixture_make(fixture, TYPE_FUNCTION, 8);
	struct v8_known *known;
	struct error err;
	uint32_t id;

	for (size_t i = 0; i < 2; i++) {
		bytecodes[i] = v8_fixture_make(fixture, TYPE_BYTECODE, 3);
		functions[i] = v8_fixture_make_function(fixture,
			v8_fixture_make_scope(fixture, FUNCTION_SCOPE | NAMED, 0,
				(const uint64_t[]){ name, 0, v8_fixture_small(0) }, 3),
			script);
		v8_fixture_put(fixture, functions[i], 8, bytecodes[i]);
	}
	make_listed(fixture, script, functions, 2);
	v8_fixture_put(fixture, function, 24, functions[0]);
	assert_true(v8_known_create(1, &known, &err));
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 1000000000);
	assert_true(v8_known_by_bytecode(known, bytecodes[1], 0, &id, &err));
	assert_int_equal(id, PROFILE_NONE);
	assert_true(v8_known_by_bytecode(known, bytecodes[0], function, &id, &err));
	assert_int_equal(id, 0);
	assert_true(v8_known_by_bytecode(known, bytecodes[1], 0, &id, &err));
	assert_int_equal(id, 1);
	/* Both are looked at together when the next sample comes, so that neither needs to be read by itself. */
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 4000000000);
	known->heap.reads_left = 0;
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(v8_known_by_bytecode(known, bytecodes[i], 0, &id, &err));
		assert_int_equal(id, i);
	}
	v8_fixture_put(fixture, functions[1], 8, 0);
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 8000000000);
	assert_true(v8_known_by_bytecode(known, bytecodes[0], 0, &id, &err));
	assert_int_equal(id, 0);
	assert_true(v8_known_by_bytecode(known, bytecodes[1], 0, &id, &err));
	assert_int_equal(id, PROFILE_NONE);
	v8_known_destroy(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_strings, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_strings_that_mean_harm, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			test_an_account_pays_for_all_of_its_reads, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_functions, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_module_of_an_old_version, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_reading_is_bounded, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			test_scope_with_too_many_variables, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_bytecode, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_code, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_regular_expressions, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_lists_of_functions, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_known, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_known_by_list, v8_fixture_setup, v8_fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
