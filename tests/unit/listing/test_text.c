/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/listing/listing.h"
#include "diff/listing/text.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct text text_of(const char *bytes, size_t size)
{
	char *copy = malloc(size + 1);
	struct text text;

	memcpy(copy, bytes, size);
	text_of_file(copy, size, &text);
	return text;
}

static void expect_line(const struct text *text, uint32_t number, const char *expected)
{
	const struct text_line *line = text_line_at(text, number);

	if (!expected) {
		assert_null(line);
		return;
	}
	assert_non_null(line);
	assert_int_equal(line->size, strlen(expected));
	assert_memory_equal(line->text, expected, line->size);
}

static void a_file_has_lines_without_their_ends(void **state)
{
	CLEANUP(text_deinit) struct text text = text_of("a\r\n\n\tb  \nlast", 13);

	expect_line(&text, 0, NULL);
	expect_line(&text, 1, "a");
	expect_line(&text, 2, "");
	expect_line(&text, 3, "\tb");
	expect_line(&text, 4, "last");
	expect_line(&text, 5, NULL);
	expect_line(&text, UINT32_MAX, NULL);
}

static void a_newline_at_the_end_begins_no_line(void **state)
{
	CLEANUP(text_deinit) struct text text = text_of("a\nb\n", 4), empty = text_of("", 0);

	expect_line(&text, 2, "b");
	expect_line(&text, 3, NULL);
	expect_line(&empty, 1, NULL);
}

static struct profile *kept(void)
{
	struct profile_source_file file = { .proof = PROFILE_SOURCE_NOT_NEWER };
	struct profile *profile = NULL;
	struct error err;
	uint32_t id;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_intern(profile, "other.c", &file.path, &err));
	assert_true(profile_add_source_file(profile, &file, &id, &err));
	assert_true(profile_add_source_text(profile, id, 1, "other", &err));
	assert_true(profile_intern(profile, "a.c", &file.path, &err));
	assert_true(profile_add_source_file(profile, &file, &id, &err));
	assert_true(profile_add_source_text(profile, id, 10, "ten\neleven", &err));
	assert_true(profile_add_source_text(profile, id, 12, "twelve\n", &err));
	assert_true(profile_add_source_text(profile, id, 30, "thirty", &err));
	return profile;
}

static void lines_of_a_profile_have_their_numbers(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = kept();
	CLEANUP(text_deinit) struct text text = { 0 };

	text_of_profile(profile, 1, &text);
	expect_line(&text, 9, NULL);
	expect_line(&text, 10, "ten");
	expect_line(&text, 11, "eleven");
	expect_line(&text, 12, "twelve");
	expect_line(&text, 13, "");
	expect_line(&text, 14, NULL);
	expect_line(&text, 30, "thirty");
	expect_line(&text, 31, NULL);
	/* What follows another text is one block with it. */
	assert_ptr_equal(text_block_at(&text, 10), text_block_at(&text, 13));
	assert_null(text_block_at(&text, 20));
}

static void long_lines_are_cut_between_characters(void **state)
{
	CLEANUP(text_deinit) struct text text = { 0 };
	struct string_table *strings;
	char bytes[1000];
	struct error err;
	uint32_t id;

	assert_true(string_table_create(10000, &strings, &err));
	for (size_t shift = 0; shift < 3; shift++) {
		size_t size = shift;

		memset(bytes, 'x', shift);
		for (; size + 3 < sizeof(bytes); size += 3)
			memcpy(bytes + size, "€", 3);
		text = text_of(bytes, size);
		assert_true(text_intern_shown(strings, text_line_at(&text, 1), LISTING_LINE_BYTES, &id, &err));
		assert_true(string_table_size(strings, id) <= LISTING_LINE_BYTES + 3);
		for (const char *at = string_table_get(strings, id); *at;)
			assert_true(unicode_next(&at) != 0xfffd);
		assert_non_null(strstr(string_table_get(strings, id), "€…"));
		text_deinit(&text);
	}
	/* Bytes that begin no character are cut too. */
	memset(bytes, 0x80, sizeof(bytes));
	text = text_of(bytes, sizeof(bytes));
	assert_true(text_intern_shown(strings, text_line_at(&text, 1), LISTING_LINE_BYTES, &id, &err));
	assert_true(string_table_size(strings, id) <= LISTING_LINE_BYTES + 3);
	string_table_destroy(strings);
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = kept();
	struct text text;

	while (failing_malloc_in_child()) {
		text_of_profile(profile, 1, &text);
		failing_malloc_end(true, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_lines_without_their_ends),
		cmocka_unit_test(a_newline_at_the_end_begins_no_line),
		cmocka_unit_test(lines_of_a_profile_have_their_numbers),
		cmocka_unit_test(long_lines_are_cut_between_characters),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
