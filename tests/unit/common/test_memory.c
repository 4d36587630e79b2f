/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fills every container; what was in it before a failure stays. */
static bool fill(struct hash_map *map, struct string_table *table, struct buffer *out, struct error *err)
{
	for (uint32_t i = 0; i < 500; i++) {
		char text[16];
		uint32_t id, *value;
		bool added;

		snprintf(text, sizeof(text), "%u", i);
		if (!hash_map_add(map, &i, i, &value, &added, err) ||
			!string_table_add(table, text, strlen(text), &id, err))
			return false;
		buffer_printf(out, "%100u", i);
	}
	return buffer_ok(out, err);
}

static bool fill_all(struct error *err)
{
	struct string_table *table = NULL;
	struct hash_map map;
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	bool ok;

	hash_map_init(&map, sizeof(uint32_t));
	buffer_init(&out, 1 << 20);
	ok = string_table_create(1 << 20, &table, err) && fill(&map, table, &out, err);
	for (uint32_t i = 0; i < map.count; i++)
		if (hash_map_get(&map, &i) != i)
			fail_msg("entry %u was lost", i);
	for (uint32_t i = 1; table && i < string_table_count(table); i++)
		if (strtoul(string_table_get(table, i), NULL, 10) != i - 1)
			fail_msg("string %u was lost", i);
	hash_map_deinit(&map);
	string_table_destroy(table);
	return ok;
}

static void every_failed_allocation_is_an_error(void **state)
{
	bool succeeded = false;
	size_t n;

	for (n = 0; !succeeded; n++) {
		struct error err = { 0 };

		assert_true(n < 1000);
		failing_malloc_after(n);
		succeeded = fill_all(&err);
		failing_malloc_after(SIZE_MAX);
		assert_true(succeeded || err.code == ERROR_MEMORY);
	}
	assert_true(n > 10);
}

/* The same where nobody checks. */
static bool fill_unchecked(struct error *err)
{
	size_t capacity = 0, count = 0;
	uint32_t *items = NULL;

	for (uint32_t i = 0; i < 100; i++)
		ARRAY_PUSH(&items, &capacity, &count, i);
	assert_int_equal(items[99], 99);
	free(items);
	free(memory_alloc(0));
	free(memory_resize(memory_zeroed(0, 8), 0, 8));
	free(memory_copy_string("text"));
	free(memory_copy_text("text", 2));
	free(memory_print("%s %d", "text", 1));
	return fill_all(err);
}

static void without_checks_the_process_ends_and_says_so(void **state)
{
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(fill_unchecked(&err), &err);
}

static bool multiply_too_much(void *context, struct error *err)
{
	free(context ? memory_zeroed(SIZE_MAX / 2, 4) : memory_resize(NULL, SIZE_MAX / 2, 4));
	return true;
}

static void end_is_told_to_a_parent(void **state)
{
	struct memory_need *need = mmap(NULL, sizeof(*need), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	assert_ptr_not_equal(need, MAP_FAILED);
	for (int resized = 0; resized < 2; resized++) {
		pid_t pid;

		*need = (struct memory_need){ 0 };
		pid = fork();
		if (pid == 0) {
			const struct memory_end end = { .exit_code = 9, .need = need };
			struct error err;

			memory_set_end(&end);
			_exit(multiply_too_much(resized ? NULL : need, &err));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), 9);
		assert_int_equal(need->bytes, SIZE_MAX);
	}
	munmap(need, sizeof(*need));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_an_error),
		cmocka_unit_test(without_checks_the_process_ends_and_says_so),
		cmocka_unit_test(end_is_told_to_a_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
