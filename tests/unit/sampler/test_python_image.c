/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile_python_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 103, MOST_FILE_BYTES = 1 << 20, MOST_OFFSET = 1 << 20 };

/* A file that is changed before it is read. */
struct file {
	struct buffer bytes;
	uint8_t *runtime, *version, *asyncio; /* in the bytes */
};

static void open_file(const char *path, struct file *file)
{
	struct error err;

	buffer_init(&file->bytes, MOST_FILE_BYTES);
	assert_true(file_read(path, &file->bytes, &err));
	file->runtime = memmem(file->bytes.data, file->bytes.size, "xdebugpy", 8);
	file->version = memmem(file->bytes.data, file->bytes.size, "version?", 8);
	file->asyncio = memmem(file->bytes.data, file->bytes.size, "asyncio!", 8);
	assert_true(file->runtime && file->version && file->asyncio);
}

static void set_word(const struct file *file, size_t word, uint64_t value)
{
	memcpy(file->runtime + 8 * word, &value, sizeof(value));
}

static struct python_image *read_bytes(const void *bytes, size_t size, struct error *why)
{
	struct python_image *python = NULL;
	struct python_asyncio asyncio;
	struct elf_image *elf;
	struct error err;

	*why = (struct error){ 0 };
	if (!elf_image_open_memory(bytes, size, "made by hand", &elf, &err))
		return NULL;
	assert_true(python_image_read(elf, &python, why, &err));
	(void)python_asyncio_read(elf, &asyncio);
	elf_image_unref(elf);
	return python;
}

static struct python_image *read_file(const struct file *file, struct error *why)
{
	return read_bytes(file->bytes.data, file->bytes.size, why);
}

/* What 3.13, 3.14 and 3.15 tell, in the order of their structures: sizes of all, and offsets that grow. */
static void put_offsets(const struct file *file, uint32_t version, uint64_t is_free_threaded)
{
	static const uint8_t starts_3_13[] = { 3, 6, 19, 28, 34, 44, 46, 50, 53, 56, 59, 61, 64, 67, 71, 73, WORDS };
	static const uint8_t starts_3_14[] = { 3, 6, 22, 31, 39, 50, 52, 56, 59, 62, 66, 69, 71, 74, 77, 81, 83, 87,
		WORDS };
	static const uint8_t starts_3_15[] = { 3, 6, 22, 39, 47, 58, 60, 66, 68, 71, 74, 78, 81, 83, 86, 89, 94, 99,
		WORDS };
	const uint8_t *starts = version >> 16 == 0x030d   ? starts_3_13
				: version >> 16 == 0x030e ? starts_3_14
							  : starts_3_15;
	size_t next = 0;

	memcpy(file->runtime, "xdebugpy", 8);
	set_word(file, 1, version);
	set_word(file, 2, is_free_threaded);
	for (size_t i = 3; i < WORDS; i++) {
		bool is_start = i == starts[next];

		next += is_start;
		set_word(file, i, is_start ? 1000 : 8 * i);
	}
}

/* ---- Versions ---- */

static void test_offsets_are_those_of_the_version(void **state)
{
	struct python_image *python;
	struct error why;
	struct file file;

	open_file(PYTHON_IMAGE, &file);
	put_offsets(&file, 0x030d00f0, 0);
	python = read_file(&file, &why);
	assert_non_null(python);
	assert_int_equal(python->version, 0x030d00f0);
	assert_false(python->is_free_threaded);
	assert_int_equal(python->read.first_interpreter, 8 * 5);
	assert_int_equal(python->read.first_thread, 8 * 9);
	assert_int_equal(python->read.native_thread_id, 8 * 25);
	assert_int_equal(python->read.mark, 8 * 33);
	assert_int_equal(python->read.instructions, 8 * 43);
	assert_int_equal(python->flags, 8 * 40 - 4);
	assert_int_equal(python->unicode_compact, 8 * 70 + 16);
	python_image_destroy(python);
	put_offsets(&file, 0x030e0af0, 1);
	python = read_file(&file, &why);
	assert_non_null(python);
	assert_true(python->is_free_threaded);
	assert_int_equal(python->read.native_thread_id, 8 * 28);
	assert_int_equal(python->read.mark, 8 * 36);
	assert_int_equal(python->read.instructions, 8 * 48);
	assert_int_equal(python->unicode_kind_bit, 8);
	assert_int_equal(python->read.copy_index, 8 * 38);
	assert_int_equal(python->read.copies, 8 * 49);
	python_image_destroy(python);
	put_offsets(&file, 0x030e0af0, 0);
	python = read_file(&file, &why);
	assert_non_null(python);
	assert_int_equal(python->read.copies, 0);
	python_image_destroy(python);
	put_offsets(&file, 0x030f02f0, 1);
	python = read_file(&file, &why);
	assert_non_null(python);
	assert_int_equal(python->read.frame, 8 * 26);
	assert_int_equal(python->read.native_thread_id, 8 * 31);
	assert_int_equal(python->read.mark, 8 * 44);
	assert_int_equal(python->read.copy_index, 8 * 46);
	assert_int_equal(python->read.copies, 8 * 57);
	assert_int_equal(python->type, 8 * 59);
	assert_int_equal(python->bytes_data, 8 * 88);
	assert_int_equal(python->unicode_length, 8 * 91);
	python_image_destroy(python);
	buffer_deinit(&file.bytes);
}

/* Those of 3.15.2 without the GIL, as a program over Debian's headers has them with Py_GIL_DISABLED. */
static void test_offsets_of_a_free_threaded_version(void **state)
{
	static const uint32_t told[] = { 409296, 912, 936, 250328, 7272, 7264, 7336, 7352, 7400, 7592, 7576, 7584, 16,
		7736, 0, 7760, 7752, 7952, 17252, 888, 0, 8, 16, 72, 80, 88, 96, 176, 184, 256, 32, 36, 40, 136, 288, 0,
		88, 8, 0, 56, 80, 78, 64, 72, 240, 128, 136, 144, 152, 84, 68, 112, 120, 232, 224, 32, 24, 440, 40, 104,
		184, 48, 304, 968, 904, 56, 48, 32, 56, 40, 32, 216, 40, 56, 48, 64, 48, 56, 40, 32, 48, 32, 40, 56, 32,
		48, 80, 48, 32, 56, 72, 176, 112, 120, 224, 104, 176, 40, 88, 83 };
	struct python_image *python;
	struct error why;
	struct file file;

	open_file(PYTHON_IMAGE, &file);
	put_offsets(&file, 0x030f02f0, 1);
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		set_word(&file, 3 + i, told[i]);
	python = read_file(&file, &why);
	assert_non_null(python);
	assert_int_equal(python->read.frame, 72);
	assert_int_equal(python->read.native_thread_id, 184);
	assert_int_equal(python->read.mark, 78);
	assert_int_equal(python->read.copy_index, 72);
	assert_int_equal(python->read.copies, 224);
	assert_int_equal(python->read.instructions, 232);
	assert_int_equal(python->read.coroutine_frame, 88);
	assert_int_equal(python->read.coroutine_state, 83);
	assert_int_equal(python->read.stack_pointer, 64);
	assert_int_equal(python->flags, 64);
	assert_int_equal(python->unicode_compact, 72);
	assert_int_equal(python->unicode_kind_bit, 8);
	python_image_destroy(python);
	buffer_deinit(&file.bytes);
}

/* A version, as the runtime and as Py_Version tell it (0: it does not), and what is said of it; NULL: it is known. */
struct version_case {
	uint64_t told, exported;
	const char *why;
};

static void test_versions_that_are_not_known_are_told(void **state)
{
	static const struct version_case cases[] = {
		{ 0, 0, "it is older than CPython 3.11; use 3.11 to 3.15, or 3.12 or later with -X perf" },
		{ 0, 0x030a0df0, "it is older than CPython 3.11; use 3.11 to 3.15, or 3.12 or later with -X perf" },
		{ 0, 0x030b02f0, NULL },
		{ 0, 0x030c01f0, NULL },
		{ 0, 0x030d00f0, "the offsets that it tells are damaged" },
		{ 0x030b02f0, 0x030b02f0, "the offsets that it tells are damaged" },
		{ 0x030e0af0, 0, NULL },
		{ 0x030f02f0, 0, NULL },
		{ 0x031000a1, 0x031000a1, "CPython 3.16 is not known, 3.11 to 3.15 are" },
		{ 0, 0x040000f0, "CPython 4.0 is not known, 3.11 to 3.15 are" },
	};
	struct file file;

	open_file(PYTHON_IMAGE, &file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct python_image *python;
		struct error why;

		put_offsets(&file, (uint32_t)cases[i].told, 0);
		if (!cases[i].told)
			set_word(&file, 0, 0);
		memcpy(file.version, &cases[i].exported, sizeof(cases[i].exported));
		python = read_file(&file, &why);
		assert_int_equal(python == NULL, cases[i].why != NULL);
		assert_string_equal(why.message, cases[i].why ? cases[i].why : "");
		assert_int_equal(why.code != ERROR_NONE, cases[i].why != NULL);
		python_image_destroy(python);
	}
	buffer_deinit(&file.bytes);
}

/* ---- Tasks of asyncio ---- */

static bool read_asyncio(const struct file *file, const uint64_t words[13], struct python_asyncio *asyncio)
{
	struct elf_image *elf;
	struct error err;
	bool is_read;

	memcpy(file->asyncio, words, 13 * sizeof(*words));
	assert_true(elf_image_open_memory(file->bytes.data, file->bytes.size, "made by hand", &elf, &err));
	is_read = python_asyncio_read(elf, asyncio);
	elf_image_unref(elf);
	return is_read;
}

static void test_offsets_of_tasks_are_read(void **state)
{
	/* Those of Debian's 3.14.10. */
	static const uint64_t told[] = { 168, 136, 96, 108, 109, 128, 152, 225864, 10880, 936, 864, 872, 880 };
	static const uint64_t absurd[] = { 0, 4, 137, 164, 168, 1000, 1 << 20, 1ULL << 32, UINT64_MAX - 7, UINT64_MAX };
	uint64_t words[13];
	struct python_asyncio asyncio;
	struct elf_image *elf;
	struct error err;
	struct file file;

	open_file(PYTHON_IMAGE, &file);
	assert_true(read_asyncio(&file, told, &asyncio));
	assert_int_equal(asyncio.task_name, 136);
	assert_int_equal(asyncio.running_task, 872);
	assert_int_equal(asyncio.task_coroutine, 128);
	assert_int_equal(asyncio.awaiter, 96);
	assert_int_equal(asyncio.is_task, 108);
	assert_int_equal(asyncio.has_many_awaiters, 109);
	assert_int_equal(asyncio.running_loop, 864);
	assert_int_equal(asyncio.tasks, 880);
	assert_int_equal(asyncio.task_node, 152);
	for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++) {
		memcpy(words, told, sizeof(words));
		words[1] = absurd[i];
		assert_false(read_asyncio(&file, words, &asyncio));
		assert_int_equal(asyncio.running_task, 0);
		memcpy(words, told, sizeof(words));
		words[9] = UINT64_MAX;
		words[11] = absurd[i];
		assert_false(read_asyncio(&file, words, &asyncio));
	}
	buffer_deinit(&file.bytes);
	assert_true(elf_image_open_path("/proc/self/exe", &elf, &err));
	assert_false(python_asyncio_read(elf, &asyncio));
	elf_image_unref(elf);
}

/* A string object as 3.12 and later have it; `state`: kind, compact, ascii. */
static void put_text(uint8_t *object, uint64_t length, uint32_t state, const void *characters, size_t size)
{
	bool is_ascii = state >> 4 & 1;

	memset(object, 0x55, EBPF_TASK_BYTES);
	memcpy(object + 16, &length, sizeof(length));
	state <<= 2;
	memcpy(object + 32, &state, sizeof(state));
	memcpy(object + (is_ascii ? 40 : 56), characters, size);
}

static void expect_task(const uint8_t *object, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer name = { 0 };

	buffer_init(&name, 512);
	buffer_append_string(&name, "task ");
	assert_int_equal(python_task_name(&hostile_python_image, object, &name), expected != NULL);
	if (expected)
		assert_string_equal(name.data, expected);
}

static void test_names_of_tasks_are_those_that_somebody_gave(void **state)
{
	enum { ASCII = 1 | 8 | 16, LATIN = 1 | 8, WIDE = 4 | 8, NOT_COMPACT = 1 | 16 };
	static const char *const numbered[] = { "Task-1", "Task-1234567" }, *const given[] = { "Task-", "Task-1b",
		"x" };
	static const uint32_t wide[] = { 0x1f600, 0xd800, 0x202e };
	uint8_t object[EBPF_TASK_BYTES];
	char expected[64];

	for (size_t i = 0; i < 2; i++) {
		put_text(object, strlen(numbered[i]), ASCII, numbered[i], strlen(numbered[i]));
		expect_task(object, NULL);
	}
	for (size_t i = 0; i < 3; i++) {
		put_text(object, strlen(given[i]), ASCII, given[i], strlen(given[i]));
		(void)snprintf(expected, sizeof(expected), "task %s", given[i]);
		expect_task(object, expected);
	}
	put_text(object, 4, LATIN,
		"\xdc"
		"ber",
		4);
	expect_task(object, "task \xc3\x9c"
			    "ber");
	put_text(object, 2, WIDE, wide, sizeof(wide));
	expect_task(object, "task \xf0\x9f\x98\x80\xef\xbf\xbd");
	put_text(object, 3, ASCII, "a\n\x1b", 3);
	expect_task(object, "task a\xef\xbf\xbd\xef\xbf\xbd");
	put_text(object, 0, ASCII, "", 0);
	expect_task(object, NULL);
	put_text(object, 1, NOT_COMPACT, "a", 1);
	expect_task(object, NULL);
	put_text(object, UINT64_MAX, ASCII, "a", 1);
	expect_task(object, NULL);
}

static void test_names_of_tasks_end_with_their_copy(void **state)
{
	static const char start[] = "task UUU";
	uint8_t object[EBPF_TASK_BYTES];
	struct python_image python = hostile_python_image;
	struct buffer name;

	put_text(object, 1 << 20, 1 | 8 | 16, "UUU", 3);
	for (uint32_t data = 40; data < 1000; data += 8) {
		python.unicode_ascii = data;
		buffer_init(&name, 512);
		buffer_append_string(&name, "task ");
		assert_int_equal(python_task_name(&python, object, &name), data <= EBPF_TASK_BYTES - 8);
		if (name.size > 5) {
			assert_int_equal(name.size, 5 + EBPF_TASK_BYTES - data);
			assert_memory_equal(name.data, start, sizeof(start) - 1);
		}
		buffer_deinit(&name);
	}
}

/* ---- Images that are something else, or mean harm ---- */

static void test_other_images_are_none(void **state)
{
	const char *const paths[] = { "/proc/self/exe", "/bin/sh" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct python_image *python;
		struct error why = { 0 }, err;
		struct elf_image *elf;

		assert_true(elf_image_open_path(paths[i], &elf, &err));
		assert_true(python_image_read(elf, &python, &why, &err));
		assert_null(python);
		assert_int_equal(why.code, ERROR_NONE);
		elf_image_unref(elf);
	}
}

static void expect_sane(const struct python_image *python)
{
	const struct ebpf_python *read = &python->read;
	const uint32_t offsets[] = { read->first_interpreter, read->next_interpreter, read->first_thread,
		read->next_thread, read->native_thread_id, read->frame, read->code, read->previous, read->instruction,
		read->mark, read->instructions, read->copies, read->copy_index, python->type, python->qualname,
		python->filename, python->first_line, python->line_table, python->argument_count, python->flags,
		python->unicode_state, python->unicode_length, python->unicode_ascii, python->unicode_compact,
		python->bytes_size, python->bytes_data };

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		assert_in_range(offsets[i], 0, MOST_OFFSET + 16);
}

static void test_absurd_offsets_are_refused(void **state)
{
	static const uint64_t values[] = { UINT64_MAX, UINT64_MAX - 7, 1ULL << 32, 1ULL << 31, 1 << 20, 1001, 997, 3,
		0 };
	struct file file;

	open_file(PYTHON_IMAGE, &file);
	for (size_t word = 3; word < WORDS; word++)
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			struct python_image *python;
			struct error why;

			put_offsets(&file, i % 4 < 2 ? 0x030e00f0 : 0x030f00f0, i % 2);
			set_word(&file, word, values[i]);
			python = read_file(&file, &why);
			assert_int_equal(python == NULL, why.code != ERROR_NONE);
			if (python)
				expect_sane(python);
			python_image_destroy(python);
		}
	buffer_deinit(&file.bytes);
}

/* Bytes of the file that are cut off, or changed. */
static void test_damaged_files_are_read_within_their_bounds(void **state)
{
	uint32_t random = 1;
	struct file file;
	struct error why;

	open_file(PYTHON_IMAGE ".stripped", &file);
	put_offsets(&file, 0x030e00f0, 0);
	for (size_t size = 0; size < file.bytes.size; size += 97)
		python_image_destroy(read_bytes(file.bytes.data, size, &why));
	for (size_t i = 0; i < 2000; i++) {
		size_t at = (random = random * 1664525 + 1013904223) % file.bytes.size;
		char before = file.bytes.data[at];

		file.bytes.data[at] = (char)(random >> 24);
		python_image_destroy(read_file(&file, &why));
		if (i % 8 != 0)
			file.bytes.data[at] = before;
	}
	buffer_deinit(&file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets_are_those_of_the_version),
		cmocka_unit_test(test_offsets_of_a_free_threaded_version),
		cmocka_unit_test(test_versions_that_are_not_known_are_told),
		cmocka_unit_test(test_offsets_of_tasks_are_read),
		cmocka_unit_test(test_names_of_tasks_are_those_that_somebody_gave),
		cmocka_unit_test(test_names_of_tasks_end_with_their_copy),
		cmocka_unit_test(test_other_images_are_none),
		cmocka_unit_test(test_absurd_offsets_are_refused),
		cmocka_unit_test(test_damaged_files_are_read_within_their_bounds),
	};

	return cmocka_run_group_tests_name("python_image", tests, NULL, NULL);
}
