/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Definitions of macros are found with their ends, and are uses of the functions that name them. */
#include "diff/commits/macros.h"

#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const char text[] = "#define ONE 1\n"           /* 1 */
			   "  #  define TWO(a) \\\r\n" /* 2 */
			   "\t((a) + ONE)\r\n"         /* 3 */
			   "#ifdef X\n"                /* 4 */
			   "#define ONE 11\n"          /* 5 */
			   "#endif\n"                  /* 6 */
			   "#define LOOP LOOP + TWO\n" /* 7 */
			   "#defined ODD 3\n"          /* 8 */
			   "int f(void)\n"             /* 9 */
			   "{\n"                       /* 10 */
			   "#define OWN 4\n"           /* 11 */
			   "\treturn OWN + ONETWO;\n"  /* 12 */
			   "}\n"                       /* 13 */
			   "int g(void) { return\n"    /* 14 */
			   "\tLOOP(3); }\n"            /* 15 */
			   "#define LAST \\";          /* 16 */

static void expect_uses(uint32_t first, uint32_t last, const struct line_use *expected, size_t count)
{
	CLEANUP(macros_deinit) struct macros macros = { 0 };
	struct line_range range = { .first = first, .last = last };
	struct error err;

	assert_true(macros_find(text, sizeof(text) - 1, &macros, &err));
	assert_int_equal(macros.count, 6);
	assert_true(macros_add_uses(&macros, text, sizeof(text) - 1, &range, &err));
	assert_int_equal(range.use_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(range.uses[i].first, expected[i].first);
		assert_int_equal(range.uses[i].last, expected[i].last);
		assert_int_equal(range.uses[i].own_line, expected[i].own_line);
	}
	free(range.uses);
}

static void uses_are_found_through_each_other(void **state)
{
	/* What stands within the function is its own, and a longer name is another one. */
	expect_uses(9, 13, NULL, 0);
	/* LOOP names itself and TWO, which names both definitions of ONE. */
	expect_uses(14, 15, (const struct line_use[]){ { 7, 7, 15 }, { 2, 3, 15 }, { 1, 1, 15 }, { 5, 5, 15 } }, 4);
	expect_uses(100, 200, NULL, 0);
}

/* Every beginning of the text, also one that ends in a definition, and none. */
static void texts_may_end_anywhere(void **state)
{
	for (size_t size = 0; size < sizeof(text); size++) {
		CLEANUP(macros_deinit) struct macros macros = { 0 };
		char *copy = malloc(size + 1);
		struct line_range range = { .first = 1, .last = 20 };
		struct error err;

		assert_non_null(copy);
		memcpy(copy, text, size);
		assert_true(macros_find(copy, size, &macros, &err));
		assert_true(macros_add_uses(&macros, copy, size, &range, &err));
		free(range.uses);
		free(copy);
	}
}

/*
 * A text may have any number of definitions, each of them any number of times, that name each other: what is looked at
 * of it is bounded, and it is no error.
 */
static void many_definitions_cost_what_the_text_does(void **state)
{
	enum { DEFINITIONS = 100000, FUNCTIONS = 200 };
	CLEANUP(macros_deinit) struct macros macros = { 0 };
	CLEANUP(buffer_deinit) struct buffer many = { 0 };
	struct error err;

	buffer_init(&many, 1 << 24);
	for (int i = 0; i < DEFINITIONS; i++)
		buffer_printf(&many, "#define A%d A%d A0\n", i / 2, i / 2 + 1);
	for (int i = 0; i < FUNCTIONS; i++)
		buffer_printf(&many, "int f%d(void) { return A0 A0 A0 A%d; }\n", i, i);
	assert_true(macros_find(many.data, many.size, &macros, &err));
	assert_true(macros.count >= 1 << 16 && macros.count < DEFINITIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct line_range range = { .first = DEFINITIONS + 1 + i, .last = DEFINITIONS + 1 + i };

		assert_true(macros_add_uses(&macros, many.data, many.size, &range, &err));
		assert_int_equal(range.use_count, 256);
		assert_int_equal(range.uses[0].first, 1);
		assert_int_equal(range.uses[1].first, 2);
		assert_int_equal(range.uses[0].own_line, range.first);
		free(range.uses);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uses_are_found_through_each_other),
		cmocka_unit_test(texts_may_end_anywhere),
		cmocka_unit_test(many_definitions_cost_what_the_text_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
