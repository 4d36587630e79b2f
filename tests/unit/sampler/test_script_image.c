/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What files of PHP and Ruby tell, and what those do that mean harm. */
#include "sampler/interpret/php/php.h"
#include "sampler/interpret/ruby/ruby.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20, PARTS = 3 };

/* A file that is changed before it is read. */
struct file {
	struct buffer bytes;
	char *api, *version; /* in the bytes */
};

static void open_file(const char *path, struct file *file)
{
	struct error err;

	buffer_init(&file->bytes, MOST_FILE_BYTES);
	assert_true(file_read(path, &file->bytes, &err));
	file->api = memmem(file->bytes.data, file->bytes.size, "API20220829,NTS", 15);
	file->version = memmem(file->bytes.data, file->bytes.size, "3.1.2", 6);
	assert_true(file->api && file->version);
}

static struct elf_image *open_image(const struct file *file, size_t size)
{
	struct elf_image *elf;
	struct error err;

	return elf_image_open_memory(file->bytes.data, size, "made by hand", &elf, &err) ? elf : NULL;
}

static struct php_image *read_php(struct elf_image *elf, struct error *why)
{
	struct php_image *php;
	struct error err;

	*why = (struct error){ 0 };
	assert_true(php_image_read(elf, &php, why, &err));
	return php;
}

static struct ruby_image *read_ruby(struct elf_image *elf, struct error *why)
{
	struct ruby_image *ruby;
	struct error err;

	*why = (struct error){ 0 };
	assert_true(ruby_image_read(elf, &ruby, why, &err));
	return ruby;
}

/* ---- The code of the loop ---- */

static void expect_ranges(const struct interpreter_loop *loop, const struct interpreter_loop *expected)
{
	assert_int_equal(loop->count, PARTS);
	for (size_t i = 0; i < PARTS; i++) {
		const struct interpreter_range *range = &expected->ranges[i];

		assert_memory_equal(&loop->ranges[i], range, sizeof(*range));
		assert_false(interpreter_loop_has(loop, range->start - 1));
		assert_true(interpreter_loop_has(loop, range->start));
		assert_true(interpreter_loop_has(loop, range->end - 1));
		assert_false(interpreter_loop_has(loop, range->end));
	}
}

/* By symbols, by the symbol that a stripped file has, and by an address in the loop. */
static void test_moved_parts_are_found_without_symbols(void **state)
{
	struct elf_image *elfs[2];
	struct php_image *phps[2];
	struct interpreter_loop found;
	struct error err;

	for (size_t i = 0; i < 2; i++) {
		assert_true(elf_image_open_path(i == 0 ? SCRIPT_IMAGE : SCRIPT_IMAGE ".stripped", &elfs[i], &err));
		phps[i] = read_php(elfs[i], &err);
		assert_non_null(phps[i]);
		expect_ranges(&phps[i]->loop, &phps[0]->loop);
	}
	for (size_t i = 0; i < PARTS; i++) {
		struct interpreter_range range = phps[0]->loop.ranges[i];
		bool is_start = range.end - range.start > 16;

		assert_true(interpreter_loop_find(elfs[1], range.end - 1, &found, &err));
		assert_true(found.count > 0);
		if (is_start)
			expect_ranges(&found, &phps[0]->loop);
		interpreter_loop_deinit(&found);
	}
	for (uint64_t address = 0; address <= UINT64_MAX / 2; address = address * 2 + 1) {
		assert_true(interpreter_loop_find(elfs[1], address | 1ULL << 62, &found, &err));
		assert_int_equal(found.count, 0);
		interpreter_loop_deinit(&found);
	}
	for (size_t i = 0; i < 2; i++) {
		php_image_destroy(phps[i]);
		elf_image_unref(elfs[i]);
	}
}

/* ---- Versions ---- */

struct version_case {
	const char *told;
	uint32_t first, second; /* offsets that the version has */
	const char *why;        /* it is not known; NULL: it is */
};

static void test_versions_of_php(void **state)
{
	static const struct version_case cases[] = {
		{ "API20190902,NTS", 488, 136, NULL },
		{ "API20220829,NTS", 488, 152, NULL },
		{ "API20250925,NTS", 512, 168, NULL },
		{ "API20180731,NTS", 0, 0, "PHP with the API 20180731 is not known, PHP 7.4 to 8.5 are" },
		{ "API99999999,NTS", 0, 0, "PHP with the API 99999999 is not known, PHP 7.4 to 8.5 are" },
		{ "API2022082\033,NT", 0, 0, "it does not tell which version of PHP it is" },
		{ "API202208290000", 0, 0, "it does not tell which version of PHP it is" },
	};
	uint64_t globals = 0;
	struct file file;

	open_file(SCRIPT_IMAGE, &file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct elf_image *elf;
		struct php_image *php;
		struct error why;

		memcpy(file.api, cases[i].told, 15);
		elf = open_image(&file, file.bytes.size);
		php = read_php(elf, &why);
		assert_string_equal(why.message, cases[i].why ? cases[i].why : "");
		assert_int_equal(php == NULL, cases[i].why != NULL);
		if (php) {
			if (i == 0)
				globals = php->read.frame - cases[i].first;
			assert_int_equal(php->read.frame - globals, cases[i].first);
			assert_int_equal(php->read.filename, cases[i].second);
		}
		php_image_destroy(php);
		elf_image_unref(elf);
	}
	buffer_deinit(&file.bytes);
}

static void test_versions_of_ruby(void **state)
{
	static const struct version_case cases[] = {
		{ "3.0.9", 56, 120, NULL },
		{ "3.1.2", 64, 120, NULL },
		{ "3.4.1", 56, 112, NULL },
		{ "2.7.8", 0, 0, "Ruby 2.7.8 is not known, 3.0 to 3.4 are" },
		{ "3.14.", 0, 0, "Ruby 3.14. is not known, 3.0 to 3.4 are" },
		{ "3\033[1m", 0, 0, "Ruby 3??1? is not known, 3.0 to 3.4 are" },
	};
	struct file file;

	open_file(SCRIPT_IMAGE, &file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct elf_image *elf;
		struct ruby_image *ruby;
		struct error why;

		memcpy(file.version, cases[i].told, 5);
		elf = open_image(&file, file.bytes.size);
		ruby = read_ruby(elf, &why);
		assert_string_equal(why.message, cases[i].why ? cases[i].why : "");
		assert_int_equal(ruby == NULL, cases[i].why != NULL);
		if (ruby) {
			assert_int_equal(ruby->read.frame_bytes, cases[i].first);
			assert_int_equal(ruby->lines, cases[i].second);
			assert_true(ruby->read.module != 0);
			assert_int_equal(ruby->read.variables, 1);
			assert_int_equal(ruby->read.first_variable, 0);
		}
		ruby_image_destroy(ruby);
		elf_image_unref(elf);
	}
	buffer_deinit(&file.bytes);
}

/* ---- Images that are something else, or mean harm ---- */

static void test_other_images_are_none(void **state)
{
	static const char *const paths[] = { "/proc/self/exe", "/bin/sh" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct elf_image *elf;
		struct error why, err;

		assert_true(elf_image_open_path(paths[i], &elf, &err));
		assert_null(read_php(elf, &why));
		assert_int_equal(why.code, ERROR_NONE);
		assert_null(read_ruby(elf, &why));
		assert_int_equal(why.code, ERROR_NONE);
		elf_image_unref(elf);
	}
}

static void read_both(const struct file *file, size_t size)
{
	struct elf_image *elf = open_image(file, size);
	struct error why;
	struct ruby_image *ruby;

	if (!elf)
		return;
	php_image_destroy(read_php(elf, &why));
	ruby = read_ruby(elf, &why);
	if (ruby) {
		assert_in_range(ruby->read.first_variable, 0, 2 << 20);
		assert_in_range(ruby->read.variables, 0, 8);
	}
	ruby_image_destroy(ruby);
	elf_image_unref(elf);
}

/* Bytes of the file that are cut off, or changed, each half of them in its headers. */
static void test_damaged_files_are_read_within_their_bounds(void **state)
{
	enum { HEADERS = 4096 };
	uint32_t random = 1;
	struct file file;

	open_file(SCRIPT_IMAGE ".stripped", &file);
	for (size_t size = 0; size < file.bytes.size; size += 97)
		read_both(&file, size);
	for (size_t i = 0; i < 4000; i++) {
		size_t at = (random = random * 1664525 + 1013904223) % (i % 2 ? HEADERS : file.bytes.size);
		char before = file.bytes.data[at];

		file.bytes.data[at] = (char)(random >> 24);
		read_both(&file, file.bytes.size);
		if (i % 8 != 0)
			file.bytes.data[at] = before;
	}
	buffer_deinit(&file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_parts_are_found_without_symbols),
		cmocka_unit_test(test_versions_of_php),
		cmocka_unit_test(test_versions_of_ruby),
		cmocka_unit_test(test_other_images_are_none),
		cmocka_unit_test(test_damaged_files_are_read_within_their_bounds),
	};

	return cmocka_run_group_tests_name("script_image", tests, NULL, NULL);
}
