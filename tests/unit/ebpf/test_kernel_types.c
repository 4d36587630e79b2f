/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel's description of its types, built by hand. */
#include "sampler/ebpf/kernel_types.h"

#include "sampler/ebpf/kernel_type_part.h"

#include "tests/unit/support/bytes.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

static bool finds_member_in(const void *bytes, size_t size, const char *structure, const char *member, uint32_t *offset)
{
	const struct ebpf_kernel_types types = ebpf_kernel_types_over(bytes, size);

	return ebpf_kernel_types_find_member(&types, structure, member, offset);
}

static bool finds_member(const struct bytes *file, const char *structure, const char *member, uint32_t *offset)
{
	return finds_member_in(file->data, file->size, structure, member, offset);
}

static void test_members(void **state)
{
	struct bytes file;
	uint32_t offset = 0;

	build(&file);
	assert_true(finds_member(&file, "task", "state", &offset));
	assert_int_equal(offset, 1);
	assert_true(finds_member(&file, "task", "tgid", &offset));
	assert_int_equal(offset, 28);
	/* A bit field, no member, and no structure. */
	assert_false(finds_member(&file, "task", "flags", &offset));
	assert_false(finds_member(&file, "task", "fn", &offset));
	assert_false(finds_member(&file, "state", "pid", &offset));
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
	assert_false(finds_member(&file, "task", "tgid", &offset));
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
		assert_false(finds_member_in(bytes, size, "task", "tgid", &offset));
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
			(void)finds_member(&file, "task", "tgid", &offset);
			file.data[i] ^= (uint8_t)(1u << bit);
		}
}

/* ---- The part that a program needs ---- */

/* A program that names two of the members of `task`, and a structure that the kernel has not. */
static struct btf *make_program(void)
{
	struct btf *program = btf__new_empty();
	int number;

	assert_non_null(program);
	number = btf__add_int(program, "int", 4, 0);
	assert_true(number > 0);
	assert_true(btf__add_struct(program, "task___of_old", 8) > 0);
	assert_int_equal(btf__add_field(program, "tgid", number, 0, 0), 0);
	assert_int_equal(btf__add_field(program, "flags", number, 32, 0), 0);
	assert_true(btf__add_struct(program, "gone", 0) > 0);
	return program;
}

static int write_part(const struct ebpf_kernel_types *types, const struct btf *program, struct btf **part)
{
	CLEANUP(cleanup_close)
	int fd = memfd_create("part", MFD_CLOEXEC);
	char path[32];
	int result;

	assert_true(fd >= 0);
	result = kernel_type_part_write(types, program, fd);
	if (result == 0 && part) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		*part = btf__parse(path, NULL);
		assert_non_null(*part);
	}
	return result;
}

static void test_a_part_has_what_the_program_names(void **state)
{
	struct ebpf_kernel_types types;
	struct btf *program = make_program(), *part;
	const struct btf_type *task, *nested;
	struct bytes file;

	build(&file);
	types = ebpf_kernel_types_over(file.data, file.size);
	assert_int_equal(write_part(&types, program, &part), 0);
	assert_true(btf__find_by_name_kind(part, "gone", BTF_KIND_STRUCT) < 0);
	task = btf__type_by_id(part, (uint32_t)btf__find_by_name_kind(part, "task", BTF_KIND_STRUCT));
	assert_non_null(task);
	assert_int_equal(task->size, 64);
	/* `state` is not named; `tgid` lies in a structure without a name, whose other member is not named either. */
	assert_int_equal(btf_vlen(task), 2);
	assert_string_equal(btf__name_by_offset(part, btf_members(task)[0].name_off), "flags");
	assert_int_equal(btf_member_bitfield_size(task, 0), 3);
	assert_int_equal(btf_member_bit_offset(task, 0), 64);
	assert_int_equal(btf_member_bit_offset(task, 1), 24 * 8);
	nested = btf__type_by_id(part, btf_members(task)[1].type);
	assert_int_equal(btf_vlen(nested), 1);
	assert_string_equal(btf__name_by_offset(part, btf_members(nested)[0].name_off), "tgid");
	assert_int_equal(btf_member_bit_offset(nested, 0), 32);
	btf__free(part);
	btf__free(program);
}

/* Whether a structure of that name has the member. */
static bool has_member(const struct btf *part, const char *structure, const char *member)
{
	for (uint32_t id = 1; id < btf__type_cnt(part); id++) {
		const struct btf_type *type = btf__type_by_id(part, id);

		if (!btf_is_struct(type) || strcmp(btf__name_by_offset(part, type->name_off), structure) != 0)
			continue;
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			if (strcmp(btf__name_by_offset(part, btf_members(type)[i].name_off), member) == 0)
				return true;
	}
	return false;
}

/* Headers that a program includes describe the same structure, each with the members that it reads. */
static void test_a_part_has_all_flavours(void **state)
{
	struct btf *program = make_program(), *part;
	struct ebpf_kernel_types types;
	struct bytes file;

	assert_true(btf__add_struct(program, "task___of_others", 4) > 0);
	assert_int_equal(btf__add_field(program, "state", 1, 0, 0), 0);
	build(&file);
	types = ebpf_kernel_types_over(file.data, file.size);
	assert_int_equal(write_part(&types, program, &part), 0);
	assert_true(has_member(part, "task", "flags"));
	assert_true(has_member(part, "task", "state"));
	assert_false(has_member(part, "task", "pid"));
	btf__free(part);
	btf__free(program);
}

/* A description that is cut, or has any bit wrong, gives an error or some part, and ends. */
static void test_a_part_of_wrong_bytes(void **state)
{
	struct btf *program = make_program();
	struct bytes file;

	build(&file);
	for (size_t size = 0; size < file.size; size++) {
		const struct ebpf_kernel_types types = ebpf_kernel_types_over(file.data, size);

		assert_int_equal(write_part(&types, program, NULL), -ENOENT);
	}
	for (size_t i = 0; i < file.size; i++) {
		const struct ebpf_kernel_types types = ebpf_kernel_types_over(file.data, file.size);

		file.data[i] ^= 0x09;
		(void)write_part(&types, program, NULL);
		file.data[i] ^= 0x09;
	}
	btf__free(program);
}

/* An array that is its own element would be copied for ever. */
static void test_a_part_of_an_array_of_itself(void **state)
{
	const struct btf_array itself = { 2, 1, 4 };
	const struct btf_member flags = { name_of("flags"), 1, 3u << 24 | 64 };
	const size_t array_at = sizeof(struct btf_header) + 2 * sizeof(struct btf_type) + sizeof(uint32_t);
	struct btf *program = make_program();
	struct ebpf_kernel_types types;
	struct bytes file;
	uint8_t *member;

	build(&file);
	memcpy(file.data + array_at, &itself, sizeof(itself));
	member = memmem(file.data, file.size, &flags, sizeof(flags));
	assert_non_null(member);
	memcpy(member + offsetof(struct btf_member, type), &itself.type, sizeof(itself.type));
	types = ebpf_kernel_types_over(file.data, file.size);
	assert_int_equal(write_part(&types, program, NULL), -E2BIG);
	btf__free(program);
}

/* Of the kernel that runs: the same offset as in its whole description, in a thousandth of the bytes. */
static void test_a_part_of_the_running_kernel(void **state)
{
	struct ebpf_kernel_types types;
	struct btf *program = btf__new_empty(), *part;
	const struct btf_type *task;
	struct error err;
	uint32_t offset, size;

	if (!ebpf_kernel_types_open(&types, &err)) {
		btf__free(program);
		skip();
	}
	assert_true(btf__add_struct(program, "task_struct", 4) > 0);
	assert_int_equal(btf__add_field(program, "tgid", 0, 0, 0), 0);
	assert_true(ebpf_kernel_types_find_member(&types, "task_struct", "tgid", &offset));
	/* A member of the program that has no type is none. */
	assert_int_equal(write_part(&types, program, &part), 0);
	btf__free(part);
	btf__free(program);
	program = btf__new_empty();
	assert_int_equal(btf__add_int(program, "int", 4, 0), 1);
	assert_true(btf__add_struct(program, "task_struct", 4) > 0);
	assert_int_equal(btf__add_field(program, "tgid", 1, 0, 0), 0);
	assert_int_equal(write_part(&types, program, &part), 0);
	task = btf__type_by_id(part, (uint32_t)btf__find_by_name_kind(part, "task_struct", BTF_KIND_STRUCT));
	assert_non_null(task);
	assert_non_null(btf__raw_data(part, &size));
	assert_true(size < types.size / 1000);
	ebpf_kernel_types_close(&types);
	assert_int_equal(btf_vlen(task), 1);
	assert_int_equal(btf_member_bit_offset(task, 0), offset * 8);
	btf__free(part);
	btf__free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_a_structure_within_itself),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_wrong_bytes),
		cmocka_unit_test(test_a_part_has_what_the_program_names),
		cmocka_unit_test(test_a_part_has_all_flavours),
		cmocka_unit_test(test_a_part_of_wrong_bytes),
		cmocka_unit_test(test_a_part_of_an_array_of_itself),
		cmocka_unit_test(test_a_part_of_the_running_kernel),
	};

	return cmocka_run_group_tests_name("sampler.btf", tests, NULL, NULL);
}
