/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile_python_fixture.h"
#include "sampler/interpret/python/code.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Each allocation fails in turn: what is read of CPython is read, or memory is out. */

enum { CODES = 2000, MOST_ALLOCATIONS = 5000 };

/* The file of an interpreter as one of 3.11, which tells no offsets. */
static void read_image_file(struct buffer *file)
{
	const uint64_t version = 0x030b02f0;
	struct error err;
	char *at;

	buffer_init(file, 1 << 20);
	assert_true(file_read(PYTHON_IMAGE ".stripped", file, &err));
	at = memmem(file->data, file->size, "version?", sizeof(version));
	assert_non_null(at);
	memcpy(at, &version, sizeof(version));
	at = memmem(file->data, file->size, "xdebugpy", 8);
	assert_non_null(at);
	memset(at, 0, 8);
}

static void test_images(void **state)
{
	bool is_read = false;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	size_t count = 0;

	read_image_file(&file);
	for (; !is_read && count < MOST_ALLOCATIONS; count++) {
		struct python_image *python;
		struct error why = { 0 }, err;
		struct elf_image *elf;

		assert_true(elf_image_open_memory(file.data, file.size, "made by hand", &elf, &err));
		failing_malloc_after(count);
		is_read = python_image_read(elf, &python, &why, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(is_read || err.code == ERROR_MEMORY);
		if (is_read) {
			assert_non_null(python);
			python_image_destroy(python);
		}
		elf_image_unref(elf);
	}
	assert_true(is_read);
	assert_true(count > 1);
}

/* Code objects of two processes, of which one was forked from the other, and is forgotten. */
static bool find_codes(struct interpreter_names *names, struct error *err)
{
	struct python_code_reader *reader;
	struct interpreter_codes *codes;
	struct profile_line line;
	bool is_found = true;

	if (!python_code_reader_create(&names->table->host, &reader, err) ||
		!interpreter_codes_create(names, &python_code_reads, reader, &codes, err))
		return false;
	for (uint64_t i = 0; is_found && i < CODES; i++) {
		if (i == CODES / 2)
			interpreter_codes_fork(codes, 1, 2);
		if (i == CODES * 3 / 4)
			interpreter_codes_forget(codes, 1);
		is_found = interpreter_codes_find(codes, &hostile_python_image, i < CODES / 2 ? 1 : 2,
			ebpf_frame_word(i % (CODES / 2) << 4, 1, false), i * 10000000, &line, err);
	}
	interpreter_codes_destroy(codes);
	return is_found;
}

static void test_codes(void **state)
{
	static const struct process_host_functions functions = { .read_memory = hostile_python_read };
	bool is_found = false;
	size_t count = 0;

	for (; !is_found && count < MOST_ALLOCATIONS; count += 1 + count / 8) {
		struct hostile_python hostile = { .is_steady = true };
		struct process_host host = { &functions, &hostile };
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

	return cmocka_run_group_tests_name("python_memory", tests, NULL, NULL);
}
