/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "script_memory_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

/* Each allocation fails in turn: what is read of PHP and Ruby is read, or memory is out. */

enum { MOST_ALLOCATIONS = 5000 };

static bool read_images(struct elf_image *elf, struct php_image **php, struct ruby_image **ruby, struct error *err)
{
	struct error why = { 0 };

	*ruby = NULL;
	return php_image_read(elf, php, &why, err) && ruby_image_read(elf, ruby, &why, err);
}

static void test_images(void **state)
{
	bool is_read = false;
	size_t count = 0;

	for (; !is_read && count < MOST_ALLOCATIONS; count++) {
		struct php_image *php;
		struct ruby_image *ruby;
		struct elf_image *elf;
		struct error err;

		assert_true(elf_image_open_path(SCRIPT_IMAGE ".stripped", &elf, &err));
		failing_malloc_after(count);
		is_read = read_images(elf, &php, &ruby, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(is_read || err.code == ERROR_MEMORY);
		if (is_read)
			assert_true(php && ruby);
		php_image_destroy(php);
		ruby_image_destroy(ruby);
		elf_image_unref(elf);
	}
	assert_true(is_read);
	assert_true(count > 3);
}

static bool find_code(struct interpreter_names *names, const struct interpreter_code_reader *reads, void *reader,
	const void *image, uint64_t address, struct error *err)
{
	struct interpreter_codes *codes;
	struct profile_line line;
	bool is_found;

	if (!interpreter_codes_create(names, reads, reader, &codes, err))
		return false;
	is_found = interpreter_codes_find(codes, image, 1, ebpf_frame_word(address, 1, false), 1, &line, err);
	interpreter_codes_destroy(codes);
	return is_found;
}

static bool find_codes(struct interpreter_names *names, struct error *err)
{
	struct php_code_reader *php;
	struct ruby_code_reader *ruby;

	return php_code_reader_create(&names->table->host, &php, err) &&
	       find_code(names, &php_code_reads, php, &script_php, PHP_FUNCTION, err) &&
	       ruby_code_reader_create(&names->table->host, &ruby, err) &&
	       find_code(names, &ruby_code_reads, ruby, &script_ruby, RUBY_CODE, err);
}

static void test_codes(void **state)
{
	static const struct process_host_functions functions = { .read_memory = script_memory_read };
	static struct script_memory memory;
	bool is_found = false;
	size_t count = 0;

	script_memory_init(&memory);
	for (; !is_found && count < MOST_ALLOCATIONS; count++) {
		struct process_host host = { &functions, &memory };
		struct process_table table;
		struct interpreter_names names;
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		struct error err;

		assert_true(profile_create(&profile, &err));
		process_table_init(&table, profile, host, NULL);
		interpreter_names_init(&names, &table);
		failing_malloc_after(count);
		is_found = find_codes(&names, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(is_found || err.code == ERROR_MEMORY);
		interpreter_names_deinit(&names);
		process_table_deinit(&table);
	}
	assert_true(is_found);
	assert_true(count > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests_name("script_memory", tests, NULL, NULL);
}
