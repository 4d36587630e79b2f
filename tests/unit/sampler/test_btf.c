/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel's description of its types, built by hand. */
#include "sampler/live/btf.h"

#include "tests/unit/support/bytes.h"
#include "tests/unit/support/unit_test.h"

#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG = 1u << 31 };

static const char names[] = "\0int\0task\0pid\0tgid\0flags\0state\0fn";

static uint32_t name_of(const char *wanted)
{
	for (uint32_t i = 1; i < sizeof(names); i += (uint32_t)strlen(&names[i]) + 1)
		if (strcmp(&names[i], wanted) == 0)
			return i;
	return 0;
}

static void put_type(
	struct bytes *file, const char *name, uint32_t kind, uint32_t count_and_flag, uint32_t size_or_type)
{
	const struct btf_type type = {
		.name_off = name_of(name), .info = kind << 24 | count_and_flag, .size = size_or_type
	};

	bytes_put(file, &type, sizeof(type));
}

static void put_member(struct bytes *file, const char *name, uint32_t type, uint32_t offset)
{
	const struct btf_member member = { name_of(name), type, offset };

	bytes_put(file, &member, sizeof(member));
}

/* Types 1 to 9: each kind of entry that has something behind it, and two structures. */
static void put_types(struct bytes *file)
{
	const uint32_t word = 0;
	const struct btf_array array = { 1, 1, 4 };
	const struct btf_param param = { 0, 1 };

	put_type(file, "int", BTF_KIND_INT, 0, 4);
	bytes_put(file, &word, sizeof(word));
	put_type(file, "", BTF_KIND_ARRAY, 0, 0);
	bytes_put(file, &array, sizeof(array));
	put_type(file, "fn", BTF_KIND_FUNC_PROTO, 1, 0);
	bytes_put(file, &param, sizeof(param));
	put_type(file, "", BTF_KIND_PTR, 0, 1);
	put_type(file, "state", BTF_KIND_ENUM, 1, 4);
	bytes_put(file, &param, sizeof(param));
	/* Without a name, within the next one. */
	put_type(file, "", BTF_KIND_STRUCT, 2, 8);
	put_member(file, "pid", 1, 0);
	put_member(file, "tgid", 1, 32);
	put_type(file, "task", BTF_KIND_FWD, 0, 0);
	/* A bit field besides: the sizes of such are in the upper byte of all. */
	put_type(file, "task", BTF_KIND_STRUCT, FLAG | 3, 64);
	put_member(file, "state", 1, 8);
	put_member(file, "flags", 1, 3u << 24 | 64);
	put_member(file, "", 6, 24 * 8);
}

static void build(struct bytes *file)
{
	struct btf_header header = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(header) };

	*file = (struct bytes){ 0 };
	bytes_put(file, &header, sizeof(header));
	put_types(file);
	header.type_len = header.str_off = (uint32_t)(file->size - sizeof(header));
	header.str_len = sizeof(names);
	bytes_put(file, names, sizeof(names));
	memcpy(file->data, &header, sizeof(header));
}

static void test_members(void **state)
{
	struct bytes file;
	uint32_t offset = 0;

	build(&file);
	assert_true(btf_find_member(file.data, file.size, "task", "state", &offset));
	assert_int_equal(offset, 1);
	assert_true(btf_find_member(file.data, file.size, "task", "tgid", &offset));
	assert_int_equal(offset, 28);
	/* A bit field, no member, and no structure. */
	assert_false(btf_find_member(file.data, file.size, "task", "flags", &offset));
	assert_false(btf_find_member(file.data, file.size, "task", "fn", &offset));
	assert_false(btf_find_member(file.data, file.size, "state", "pid", &offset));
	assert_int_equal(offset, 28);
}

/* A structure that holds itself without a name would be searched for ever. */
static void test_a_structure_within_itself(void **state)
{
	struct bytes file;
	struct btf_member member = { 0, 8, 0 };
	uint32_t offset;

	build(&file);
	memcpy(file.data + file.size - sizeof(names) - sizeof(member), &member, sizeof(member));
	assert_false(btf_find_member(file.data, file.size, "task", "tgid", &offset));
}

static void test_every_truncation(void **state)
{
	struct bytes file;
	uint32_t offset;

	build(&file);
	for (size_t size = 0; size < file.size; size++) {
		uint8_t *bytes = malloc(size + 1);

		assert_non_null(bytes);
		memcpy(bytes, file.data, size);
		assert_false(btf_find_member(bytes, size, "task", "tgid", &offset));
		free(bytes);
	}
}

/* Of whatever bytes, the search stays within the file. */
static void test_wrong_bytes(void **state)
{
	struct bytes file;
	uint32_t offset;

	build(&file);
	for (size_t i = 0; i < file.size; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			file.data[i] ^= (uint8_t)(1u << bit);
			(void)btf_find_member(file.data, file.size, "task", "tgid", &offset);
			file.data[i] ^= (uint8_t)(1u << bit);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_a_structure_within_itself),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_wrong_bytes),
	};

	return cmocka_run_group_tests_name("sampler.btf", tests, NULL, NULL);
}
