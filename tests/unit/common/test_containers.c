/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void an_arena_hands_out_zeroed_aligned_memory(void **state)
{
	struct arena arena;

	srand(3);
	arena_init(&arena, 0);
	for (int i = 0; i < 2000; i++) {
		size_t size = (size_t)rand() % 5000, alignment = (size_t)1 << rand() % 7;
		uint8_t *memory = arena_alloc(&arena, size, alignment);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % alignment, 0);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(memory[k], 0);
		memset(memory, 0xff, size);
	}
	arena_deinit(&arena);
}

static void an_arena_keeps_to_its_cap(void **state)
{
	struct arena arena;
	size_t got = 0;

	arena_init(&arena, 100000);
	while (arena_alloc(&arena, 1000, 8))
		got += 1000;
	assert_true(got >= 50000 && got <= 100000);
	assert_true(arena.total_bytes <= 100000);
	assert_null(arena_alloc(&arena, SIZE_MAX, 8));
	assert_null(arena_alloc_array(&arena, SIZE_MAX / 2, 3, 8));
	arena_deinit(&arena);
}

static void an_arena_copies_strings(void **state)
{
	struct arena arena;

	arena_init(&arena, 0);
	assert_string_equal(arena_copy_string(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_copy_string(&arena, NULL, 0), "");
	assert_null(arena_copy_string(&arena, "a", SIZE_MAX));
	arena_deinit(&arena);
}

static void an_array_grows_to_its_cap(void **state)
{
	int *items = NULL;
	size_t capacity = 0;
	struct error err = { 0 };

	for (int i = 0; i < 1000; i++) {
		assert_true(ARRAY_RESERVE(&items, &capacity, (size_t)i + 1, 1000, &err));
		items[i] = i;
	}
	assert_true(capacity <= 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	assert_false(ARRAY_RESERVE(&items, &capacity, 1001, 1000, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	assert_false(ARRAY_RESERVE(&items, &capacity, SIZE_MAX, SIZE_MAX, &err));
	assert_int_equal(items[999], 999);
	free(items);
}

/* A map of every key size against a plain table of the same pairs. */
static void a_map_holds_what_was_put_in(void **state)
{
	enum { KEYS = 3000 };

	for (size_t key_size = 1; key_size <= 64; key_size += 7) {
		size_t distinct = key_size == 1 ? 256 : KEYS;
		struct hash_map map;
		struct error err;

		hash_map_init(&map, key_size);
		for (uint32_t round = 0; round < 2; round++)
			for (uint32_t i = 0; i < distinct; i++) {
				uint8_t key[64] = { 0 };
				uint32_t *value;
				bool added;

				memcpy(key, &i, key_size < 4 ? key_size : 4);
				if (round == 0)
					assert_int_equal(hash_map_get(&map, key), HASH_MAP_NONE);
				assert_true(hash_map_add(&map, key, i * 2 + round, &value, &added, &err));
				assert_int_equal(added, round == 0);
				assert_int_equal(*value, i * 2);
				assert_int_equal(hash_map_get(&map, key), i * 2);
			}
		assert_int_equal(map.count, distinct);
		hash_map_deinit(&map);
	}
}

static void a_hash_depends_on_every_byte(void **state)
{
	uint8_t bytes[80] = { 0 };

	for (size_t size = 1; size <= sizeof(bytes); size++) {
		uint64_t before = hash_bytes(bytes, size);

		assert_int_not_equal(before, hash_bytes(bytes, size - 1));
		assert_int_not_equal(before, hash_bytes_seeded(bytes, size, 5));
		for (size_t i = 0; i < size; i++) {
			bytes[i] ^= 1;
			assert_int_not_equal(before, hash_bytes(bytes, size));
			bytes[i] ^= 1;
		}
	}
	/* The same in every build: colours and keys in files rest on it. */
	assert_int_equal(hash_bytes("kelvin", 6), hash_bytes("kelvin", 6));
}

static void equal_strings_are_one(void **state)
{
	enum { STRINGS = 100000 };
	struct string_table *table;
	struct error err;
	char text[32];
	uint32_t id;

	assert_true(string_table_create(1 << 24, &table, &err));
	assert_string_equal(string_table_get(table, 0), "");
	assert_int_equal(string_table_count(table), 1);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < STRINGS; i++) {
			int size = snprintf(text, sizeof(text), "string %u", i);

			assert_true(string_table_add(table, text, (size_t)size, &id, &err));
			assert_int_equal(id, i + 1);
		}
	assert_int_equal(string_table_count(table), STRINGS + 1);
	assert_string_equal(string_table_get(table, 4712), "string 4711");
	assert_int_equal(string_table_find(table, "string 4711", 11), 4712);
	assert_int_equal(string_table_find(table, "string", 6), UINT32_MAX);
	assert_int_equal(string_table_find(table, "", 0), 0);
	string_table_destroy(table);
}

static void strings_hold_any_byte(void **state)
{
	struct string_table *table;
	struct error err;
	uint32_t with, without;

	assert_true(string_table_create(100, &table, &err));
	assert_true(string_table_add(table, "a\0b", 3, &with, &err));
	assert_true(string_table_add(table, "a", 1, &without, &err));
	assert_int_not_equal(with, without);
	assert_int_equal(string_table_size(table, with), 3);
	assert_memory_equal(string_table_get(table, with), "a\0b", 4);
	assert_true(string_table_add(table, NULL, 0, &with, &err));
	assert_int_equal(with, 0);
	string_table_destroy(table);
}

static void strings_keep_to_their_cap(void **state)
{
	struct string_table *table;
	struct error err = { 0 };
	uint32_t id;

	assert_true(string_table_create(10, &table, &err));
	assert_true(string_table_add(table, "0123456789", 10, &id, &err));
	assert_true(string_table_add(table, "0123456789", 10, &id, &err));
	assert_false(string_table_add(table, "x", 1, &id, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	assert_int_equal(string_table_count(table), 2);
	string_table_destroy(table);
	string_table_destroy(NULL);
}

static void count_up_to_finds_the_place_behind(void **state)
{
	struct item {
		int other;
		uint64_t at;
	};
	const struct item items[] = { { 0, 3 }, { 0, 7 }, { 0, 7 }, { 0, UINT64_MAX } };
	const struct item *none = NULL;

	assert_int_equal(ARRAY_COUNT_UP_TO(none, 0, at, 5), 0);
	assert_int_equal(ARRAY_COUNT_UP_TO(items, 4, at, 2), 0);
	assert_int_equal(ARRAY_COUNT_UP_TO(items, 4, at, 3), 1);
	assert_int_equal(ARRAY_COUNT_UP_TO(items, 4, at, 6), 1);
	assert_int_equal(ARRAY_COUNT_UP_TO(items, 4, at, 7), 3);
	assert_int_equal(ARRAY_COUNT_UP_TO(items, 4, at, UINT64_MAX), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(count_up_to_finds_the_place_behind),
		cmocka_unit_test(an_arena_hands_out_zeroed_aligned_memory),
		cmocka_unit_test(an_arena_keeps_to_its_cap),
		cmocka_unit_test(an_arena_copies_strings),
		cmocka_unit_test(an_array_grows_to_its_cap),
		cmocka_unit_test(a_map_holds_what_was_put_in),
		cmocka_unit_test(a_hash_depends_on_every_byte),
		cmocka_unit_test(equal_strings_are_one),
		cmocka_unit_test(strings_hold_any_byte),
		cmocka_unit_test(strings_keep_to_their_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
