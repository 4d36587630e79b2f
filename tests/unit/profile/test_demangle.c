/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *mangled, *name;
} cases[] = {
	{ "main", "main" },
	{ "", "" },
	{ "_Z3fooi", "foo(int)" },
	{ "_ZN4shop6Basket3addEi", "shop::Basket::add(int)" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)" },
	{ "_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden(int)" },
	{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_D8demangle4testFAyaZv", "demangle.test(immutable(char)[])" },
	{ "_Dmain", "D main" },
	{ "_Znot mangled", "_Znot mangled" },
	{ "_Z", "_Z" },
	{ "_init", "_init" },
	{ "_Dictionary", "_Dictionary" },
	{ "foo.cold", "foo.cold" },
};

static void demangles(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(buffer_deinit) struct buffer out = { 0 };

		buffer_init(&out, 1 << 16);
		profile_demangle(cases[i].mangled, &out);
		if (strcmp(out.data ? out.data : "", cases[i].name) != 0)
			fail_msg("%s is %s, not %s", cases[i].mangled, out.data, cases[i].name);
	}
}

static void deep_and_long_names_stay_as_they_are_or_end(void **state)
{
	static const size_t sizes[] = { 1000, 60000, 70000, 1000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CLEANUP(cleanup_free) char *name = malloc(sizes[i] + 1);
		CLEANUP(buffer_deinit) struct buffer out = { 0 };

		assert_non_null(name);
		memset(name, 'P', sizes[i]);
		memcpy(name, "_Z1f", 4);
		name[sizes[i] - 1] = 'i';
		name[sizes[i]] = '\0';
		buffer_init(&out, (size_t)1 << 24);
		profile_demangle(name, &out);
		assert_true(out.size > 0);
	}
}

/* A pair of pairs of pairs: each level is named twice by the one behind it, so that 37 of them print 2^37 times "int".
 */
static void names_that_unfold_without_measure_stay_as_they_are(void **state)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 }, out = { 0 };

	buffer_init(&name, 1 << 16);
	buffer_init(&out, 1 << 16);
	buffer_append_string(&name, "_Z1fSt4pairIiiE");
	for (char last = '0'; last <= '9'; last++)
		buffer_printf(&name, "S_IS%c_S%c_E", last, last);
	for (char last = 'A'; last <= 'Z'; last++)
		buffer_printf(&name, "S_IS%c_S%c_E", last, last);
	assert_true(buffer_ok(&name, NULL));
	profile_demangle(name.data, &out);
	assert_string_equal(out.data, name.data);
}

static void assert_stays(const struct buffer *name)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };

	assert_true(buffer_ok(name, NULL));
	buffer_init(&out, 1 << 16);
	profile_demangle(name->data, &out);
	assert_string_equal(out.data, name->data);
}

/* Functions that take a class within a function that takes ...: each was tried twice, within what was tried twice. */
static void names_of_d_that_are_tried_without_end_stay_as_they_are(void **state)
{
	for (size_t depth = 1; depth <= 500; depth++) {
		CLEANUP(buffer_deinit) struct buffer name = { 0 };

		buffer_init(&name, 1 << 16);
		buffer_append_string(&name, "_D");
		for (size_t i = 0; i < depth; i++)
			buffer_append_string(&name, "1aFC");
		buffer_append_string(&name, "1aX");
		assert_stays(&name);
	}
}

/* A distance as D writes it: base 26, the last digit in lower case. */
static void append_back_reference(struct buffer *name, size_t to)
{
	size_t distance = name->size - to;

	buffer_append_byte(name, 'Q');
	if (distance >= 26)
		buffer_append_byte(name, (uint8_t)('A' + distance / 26));
	buffer_append_byte(name, (uint8_t)('a' + distance % 26));
}

/* A table of tables of tables, by back references: 22 of them print 75 MB. */
static void names_of_d_that_unfold_without_measure_stay_as_they_are(void **state)
{
	for (size_t depth = 1; depth <= 60; depth++) {
		struct buffer name, out;
		size_t last = 5;

		buffer_init(&name, 1 << 16);
		buffer_init(&out, 1 << 20);
		buffer_append_string(&name, "_D1fFG9a");
		for (size_t i = 0; i < depth; i++) {
			size_t here = name.size;

			buffer_append_byte(&name, 'H');
			append_back_reference(&name, last);
			append_back_reference(&name, last);
			last = here;
		}
		buffer_append_string(&name, "Zv");
		profile_demangle(name.data, &out);
		if (depth == 1)
			assert_string_equal(out.data, "f(char[9], char[9][char[9]])");
		assert_true(out.size < 4096);
		buffer_deinit(&out);
		if (depth > 8)
			assert_stays(&name);
		buffer_deinit(&name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangles),
		cmocka_unit_test(deep_and_long_names_stay_as_they_are_or_end),
		cmocka_unit_test(names_that_unfold_without_measure_stay_as_they_are),
		cmocka_unit_test(names_of_d_that_are_tried_without_end_stay_as_they_are),
		cmocka_unit_test(names_of_d_that_unfold_without_measure_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
