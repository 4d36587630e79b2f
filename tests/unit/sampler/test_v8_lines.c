/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "v8_fixture.h"

#include <stdlib.h>
#include <string.h>

/* Tables of positions as V8 writes them, and what is made of them: lines, and functions that were inlined. */

/* ---- Writing as V8 does ---- */

struct table {
	uint8_t bytes[256];
	size_t size;
	int64_t code, packed;
};

static void put_number(struct table *table, uint64_t number)
{
	for (; number > 127; number >>= 7)
		table->bytes[table->size++] = (uint8_t)(number | 128);
	table->bytes[table->size++] = (uint8_t)number;
}

static void put_signed(struct table *table, int64_t number)
{
	put_number(table, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static int64_t pack(int32_t script, int32_t inlined)
{
	return (int64_t)(script + 1) << 1 | (int64_t)(inlined + 1) << 31;
}

static void put_position(struct table *table, int32_t code, int32_t script, int32_t inlined, bool is_statement)
{
	int64_t step = code - table->code, packed = pack(script, inlined);

	put_signed(table, is_statement ? step : -step - 1);
	put_signed(table, packed - table->packed);
	table->code = code;
	table->packed = packed;
}

static uint64_t make_bytes(struct v8_fixture *fixture, const void *bytes, size_t size)
{
	uint64_t made = v8_fixture_make(fixture, TYPE_BYTES, 2 + size / 8);

	v8_fixture_put(fixture, made, 8, v8_fixture_small((int32_t)size));
	memcpy(fixture->bytes + (made - 1 - BASE) + 16, bytes, size);
	return made;
}

/* ---- Tables ---- */

static void expect_position(const struct v8_positions *positions, int64_t code, int32_t script, int32_t inlined)
{
	const struct v8_position *at = v8_position_at(positions, code);

	assert_non_null(at);
	assert_int_equal(at->script, script);
	assert_int_equal(at->inlined, inlined);
}

static void reads_positions(void **state)
{
	struct v8_fixture *fixture = *state;
	struct table table = { .code = -1 };
	struct v8_positions positions;
	struct error err;

	put_position(&table, 0, 20, -1, true);
	put_position(&table, 3, 400, 2, false);
	put_position(&table, 3, 17, 0, true);
	put_position(&table, 90, 100000, -1, false);
	assert_true(v8_read_positions(&fixture->heap, make_bytes(fixture, table.bytes, table.size), &positions, &err));
	assert_int_equal(positions.count, 4);
	assert_null(v8_position_at(&positions, -1));
	expect_position(&positions, 0, 20, -1);
	expect_position(&positions, 2, 20, -1);
	expect_position(&positions, 3, 17, 0);
	expect_position(&positions, 1000, 100000, -1);
	v8_positions_deinit(&positions);
	/* Cut anywhere, it has what is whole. */
	for (size_t size = 0; size < table.size; size++) {
		assert_true(
			v8_read_positions(&fixture->heap, make_bytes(fixture, table.bytes, size), &positions, &err));
		assert_true(positions.count < 4);
		v8_positions_deinit(&positions);
	}
}

static void other_objects_are_no_tables(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t array = v8_fixture_make(fixture, TYPE_ARRAY, 4), bytes = make_bytes(fixture, "\x02\x02", 2);
	const uint64_t none[] = { 0, v8_fixture_small(0), array, 0x1235, UINT64_MAX };
	struct v8_positions positions;
	struct error err;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_true(v8_read_positions(&fixture->heap, none[i], &positions, &err));
		assert_int_equal(positions.count, 0);
	}
	/* Longer than the process has memory. */
	v8_fixture_put(fixture, bytes, 8, v8_fixture_small(1 << 20));
	assert_true(v8_read_positions(&fixture->heap, bytes, &positions, &err));
	assert_int_equal(positions.count, 0);
	/* Numbers that are too large end it. */
	memset(fixture->bytes + (bytes - 1 - BASE) + 16, 0xff, 64);
	v8_fixture_put(fixture, bytes, 8, v8_fixture_small(64));
	assert_true(v8_read_positions(&fixture->heap, bytes, &positions, &err));
	assert_int_equal(positions.count, 0);
}

/* Baseline code of five bytecodes, of which two are preceded by a prefix. */
static void reads_positions_of_baseline_code(void **state)
{
	static const uint8_t codes[] = { 3, 9, 9, 2, 0, 3, 9, 9, 9, 9, 1, 3, 9, 9, 9, 9, 9, 9, 9, 9, 2 };
	struct v8_fixture *fixture = *state;
	uint64_t bytecode = v8_fixture_make(fixture, TYPE_BYTECODE, 12);
	struct table table = { .code = -1 }, lengths = { 0 };
	struct v8_positions of_bytecode, positions;
	struct error err;

	v8_fixture_put(fixture, bytecode, 8, v8_fixture_small(sizeof(codes)));
	memcpy(fixture->bytes + (bytecode - 1 - BASE) + 54, codes, sizeof(codes));
	put_position(&table, 0, 10, -1, true);
	put_position(&table, 4, 20, -1, true);
	put_position(&table, 20, 30, -1, true);
	assert_true(
		v8_read_positions(&fixture->heap, make_bytes(fixture, table.bytes, table.size), &of_bytecode, &err));
	put_number(&lengths, 200);
	for (size_t i = 0; i < 5; i++)
		put_number(&lengths, 10 + i);
	assert_true(v8_read_baseline_positions(&fixture->heap, make_bytes(fixture, lengths.bytes, lengths.size),
		bytecode, &of_bytecode, &positions, &err));
	assert_int_equal(positions.count, 5);
	assert_null(v8_position_at(&positions, 199));
	expect_position(&positions, 200, 10, -1);
	expect_position(&positions, 220, 10, -1);
	expect_position(&positions, 221, 20, -1);
	expect_position(&positions, 245, 20, -1);
	expect_position(&positions, 246, 30, -1);
	v8_positions_deinit(&positions);
	/* A byte that is no bytecode ends it. */
	fixture->bytes[bytecode - 1 - BASE + 54 + 3] = 77;
	assert_true(v8_read_baseline_positions(&fixture->heap, make_bytes(fixture, lengths.bytes, lengths.size),
		bytecode, &of_bytecode, &positions, &err));
	assert_int_equal(positions.count, 2);
	v8_positions_deinit(&positions);
	v8_positions_deinit(&of_bytecode);
}

/* ---- Places ---- */

/* A function of the script that begins at a position. */
static uint64_t make_named(struct v8_fixture *fixture, uint64_t script, const char *name, int32_t start)
{
	const uint64_t words[] = { v8_fixture_make_string(fixture, name), 0, v8_fixture_small(start) };

	return v8_fixture_make_function(
		fixture, v8_fixture_make_scope(fixture, FUNCTION_SCOPE | NAMED, 0, words, 3), script);
}

static void expect_place(const struct v8_known *known, const struct v8_place *place, const char *name, uint32_t line)
{
	assert_string_equal(known->functions[place->function].name, name);
	assert_int_equal(place->line, line);
}

/* Optimized code of outer(), into which middle() was inlined, and inner() into that. */
static void inlined_functions_have_their_lines(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(fixture,
		v8_fixture_make_string(fixture, "outer\n\tcall\n\nmiddle\n\tcall\ninner\n\twork\n"),
		v8_fixture_make_string(fixture, "a.js"));
	uint64_t outer = make_named(fixture, script, "outer", 0), literals = v8_fixture_make(fixture, TYPE_ARRAY, 6);
	uint64_t data = v8_fixture_make_deoptimization(fixture, outer), inlined[4] = { 0 }, code;
	const struct unwind_stack_dump dump = { 0 };
	const struct v8_frame frame = { .address = CODE_AT + 0x1050, .dump = &dump };
	struct v8_place places[V8_MOST_PLACES] = { 0 };
	struct table table = { .code = -1 };
	struct v8_code found;
	struct v8_known *known;
	struct error err;
	size_t count;

	v8_fixture_put(fixture, literals, 16, make_named(fixture, script, "middle", 13) | 2);
	v8_fixture_put(fixture, literals, 24, make_named(fixture, script, "inner", 26) | 2);
	inlined[0] = (uint64_t)pack(7, -1);
	inlined[2] = (uint64_t)pack(21, 0);
	inlined[3] = 1;
	v8_fixture_put(fixture, data, 16 + 2 * 8, literals);
	v8_fixture_put(fixture, data, 16 + 7 * 8, make_bytes(fixture, inlined, sizeof(inlined)));
	code = v8_fixture_make_code(fixture, CODE_AT + 0x1000, 0x100, 13, data);
	put_position(&table, 0x10, 7, -1, false);
	put_position(&table, 0x40, 33, 1, false);
	put_position(&table, 0x60, 33, 9, false);
	v8_fixture_put(fixture, code, 24, make_bytes(fixture, table.bytes, table.size));
	assert_true(v8_known_create(1, &known, &err));
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 1000000000);
	assert_true(v8_known_by_code(known, &frame, &found, &places[0].function, &err));
	assert_true(v8_known_places(known, &found, CODE_AT + 0x1050, places, &count, &err));
	assert_int_equal(count, 3);
	expect_place(known, &places[0], "inner a.js:6:1", 7);
	expect_place(known, &places[1], "middle a.js:4:1", 5);
	expect_place(known, &places[2], "outer a.js:1:1", 2);
	places[0].function = places[2].function;
	assert_true(v8_known_places(known, &found, CODE_AT + 0x1015, places, &count, &err));
	assert_int_equal(count, 1);
	expect_place(known, &places[0], "outer a.js:1:1", 2);
	/* Before the first position, and at an inlined call that is not there, the function is known alone. */
	for (uint64_t at = 0x1000; at <= 0x1070; at += 0x70) {
		assert_true(v8_known_places(known, &found, CODE_AT + at, places, &count, &err));
		assert_int_equal(count, 1);
		expect_place(known, &places[0], "outer a.js:1:1", 0);
	}
	v8_known_destroy(known);
}

/* V8 makes the table of a function's bytecode when it needs it: it is looked for again. */
static void lines_of_bytecode_may_come_later(void **state)
{
	struct v8_fixture *fixture = *state;
	uint64_t script = v8_fixture_make_script(
		fixture, v8_fixture_make_string(fixture, "f\n\ta\n\tb\n"), v8_fixture_make_string(fixture, "a.js"));
	uint64_t shared = make_named(fixture, script, "f", 0), bytecode = v8_fixture_make(fixture, TYPE_BYTECODE, 12);
	uint64_t function = v8_fixture_make(fixture, TYPE_FUNCTION, 8);
	struct table table = { .code = -1 };
	struct v8_place place = { 0 };
	struct v8_known *known;
	struct error err;

	v8_fixture_put(fixture, shared, 8, bytecode);
	v8_fixture_put(fixture, function, 24, shared);
	put_position(&table, 0, 3, -1, true);
	put_position(&table, 8, 6, -1, true);
	assert_true(v8_known_create(1, &known, &err));
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 1000000000);
	assert_true(v8_known_by_bytecode(known, bytecode, function, &place.function, &err));
	assert_true(v8_known_bytecode_line(known, bytecode, 8, &place, &err));
	assert_int_equal(place.line, 0);
	v8_fixture_put(fixture, bytecode, 32, make_bytes(fixture, table.bytes, table.size));
	v8_known_begin(known, &v8_fixture_layout, &fixture->host, 3000000000);
	assert_true(v8_known_bytecode_line(known, bytecode, 8, &place, &err));
	assert_int_equal(place.line, 3);
	assert_true(v8_known_bytecode_line(known, bytecode, 7, &place, &err));
	assert_int_equal(place.line, 2);
	assert_true(v8_known_bytecode_line(known, bytecode, -40, &place, &err));
	assert_int_equal(place.line, 0);
	v8_known_destroy(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_positions, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(other_objects_are_no_tables, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			reads_positions_of_baseline_code, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			inlined_functions_have_their_lines, v8_fixture_setup, v8_fixture_teardown),
		cmocka_unit_test_setup_teardown(
			lines_of_bytecode_may_come_later, v8_fixture_setup, v8_fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
