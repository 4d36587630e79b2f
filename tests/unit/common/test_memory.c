/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
