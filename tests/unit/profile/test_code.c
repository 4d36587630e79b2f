/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"

#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { MACHINE = 62, PROGRAM = 0, LIBRARY = 1 };

static void add(struct profile *profile, uint32_t mapping, uint64_t address, const char *bytes)
{
	struct profile_code code = { mapping, MACHINE, (uint32_t)strlen(bytes), address, (uint8_t *)(uintptr_t)bytes };
	struct error err;

	if (!profile_add_code(profile, &code, &err) || !profile_validate(profile, &err))
		fail_msg("%s", err.message);
}

/* The sample profile without the code that it has. */
static struct profile *without_code(void)
{
	struct profile *from = sample_profile(), *made = NULL;
	struct error err;

	from->code_count = 0;
	assert_true(profile_create(&made, &err) && profile_merge(made, from, &err));
	from->code_count = 3;
	profile_destroy(from);
	return made;
}

static void code_is_found_by_its_addresses(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = without_code();

	add(profile, LIBRARY, 0x100, "abcd");
	add(profile, PROGRAM, 0x200, "efg");
	add(profile, PROGRAM, 0x100, "hi");
	assert_int_equal(profile->code_count, 3);
	assert_memory_equal(profile_find_code(profile, PROGRAM, 0x100)->bytes, "hi", 2);
	assert_memory_equal(profile_find_code(profile, PROGRAM, 0x101)->bytes, "hi", 2);
	assert_memory_equal(profile_find_code(profile, PROGRAM, 0x202)->bytes, "efg", 3);
	assert_memory_equal(profile_find_code(profile, LIBRARY, 0x103)->bytes, "abcd", 4);
	assert_null(profile_find_code(profile, PROGRAM, 0xff));
	assert_null(profile_find_code(profile, PROGRAM, 0x102));
	assert_null(profile_find_code(profile, LIBRARY, 0x104));
	assert_null(profile_find_code(profile, 7, 0x100));
}

static void each_byte_is_there_once(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = without_code();

	add(profile, PROGRAM, 0x100, "abcd");
	add(profile, PROGRAM, 0x100, "abcd");
	add(profile, PROGRAM, 0x102, "cdef");
	add(profile, PROGRAM, 0xfe, "xyab");
	add(profile, PROGRAM, 0xfe, "xyabcdefgh");
	assert_int_equal(profile->code_count, 1);
	assert_memory_equal(profile->codes[0].bytes, "abcd", 4);
	add(profile, PROGRAM, 0x104, "next");
	assert_int_equal(profile->code_count, 2);
}

static void of_two_binaries_there_is_none(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = without_code(), *back = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };

	add(profile, PROGRAM, 0x100, "abcd");
	add(profile, PROGRAM, 0x200, "same");
	add(profile, PROGRAM, 0x102, "cXef");
	assert_null(profile_find_code(profile, PROGRAM, 0x100));
	assert_non_null(profile_find_code(profile, PROGRAM, 0x200));
	/* It stays so when it is written and read, and when the first comes again. */
	file = written_profile(profile);
	back = read_profile(file.data, file.size);
	assert_profiles_equal(profile, back);
	add(back, PROGRAM, 0x100, "abcd");
	assert_null(profile_find_code(back, PROGRAM, 0x100));
}

static void runs_of_one_build_share_their_code(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();
	size_t count = into->code_count;
	struct error err;

	add(from, PROGRAM, 0x1400, "more");
	assert_true(profile_merge(into, from, &err));
	assert_int_equal(into->code_count, count + 1);
	assert_memory_equal(profile_find_code(into, PROGRAM, 0x1401)->bytes, "more", 4);
	assert_non_null(profile_find_code(into, PROGRAM, 0x1100));
	assert_true(profile_validate(into, &err));
}

static void there_is_a_most_of_code(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = without_code(), *many = without_code();
	CLEANUP(cleanup_free) uint8_t *bytes = calloc(1, PROFILE_MAX_FUNCTION_CODE_BYTES + 1);
	struct profile_code code = { PROGRAM, MACHINE, PROFILE_MAX_FUNCTION_CODE_BYTES, 0, bytes };
	struct error err;

	for (int i = 0; i < 300; i++, code.address += code.size)
		assert_true(profile_add_code(profile, &code, &err));
	assert_int_equal(profile->code_count, PROFILE_MAX_MERGED_CODE_BYTES / PROFILE_MAX_FUNCTION_CODE_BYTES);
	code.size = 1;
	for (int i = 0; i < PROFILE_MAX_CODES + 10; i++, code.address += 2)
		assert_true(profile_add_code(many, &code, &err));
	assert_int_equal(many->code_count, PROFILE_MAX_CODES);
	assert_true(profile_validate(many, &err));
	code.size = PROFILE_MAX_FUNCTION_CODE_BYTES + 1;
	assert_false(profile_add_code(many, &code, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

/* ---- Hostile files ---- */

static void no_order(struct profile *p)
{
	struct profile_code code = p->codes[0];

	p->codes[0] = p->codes[1];
	p->codes[1] = code;
}

static void no_mapping(struct profile *p)
{
	p->codes[2].mapping = (uint32_t)p->mapping_count;
}

static void overlap(struct profile *p)
{
	p->codes[0].address = p->codes[1].address - 2;
}

static void no_bytes(struct profile *p)
{
	p->codes[1].size = 0;
}

static void too_high(struct profile *p)
{
	p->codes[2].address = UINT64_MAX - 2;
}

/* What a program makes is checked. */
static void contradictions_are_refused(void **state)
{
	static void (*const breaks[])(struct profile *) = { no_order, no_mapping, overlap, no_bytes, too_high };

	for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
		struct error err;

		breaks[i](profile);
		assert_false(profile_validate(profile, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
	}
}

/* Files are in any order; what they say of it must be there, once. */
static void files_that_contradict_themselves_are_refused(void **state)
{
	static void (*const breaks[])(struct profile *) = { overlap, no_bytes, too_high };

	for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
		CLEANUP(buffer_deinit) struct buffer file = { 0 };

		breaks[i](profile);
		file = written_profile(profile);
		expect_refused(file.data, file.size, ERROR_FORMAT, "code");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_found_by_its_addresses),
		cmocka_unit_test(each_byte_is_there_once),
		cmocka_unit_test(of_two_binaries_there_is_none),
		cmocka_unit_test(runs_of_one_build_share_their_code),
		cmocka_unit_test(there_is_a_most_of_code),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(files_that_contradict_themselves_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
