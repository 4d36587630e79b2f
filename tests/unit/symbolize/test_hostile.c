/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/name.h"
#include "symbolize/symbolize.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Damaged debug information gives fewer answers or an error; it never crashes, hangs or reads outside (run under
 * sanitizers). */

static void read_program(const char *name, struct buffer *bytes)
{
	struct error err;
	char path[512];

	snprintf(path, sizeof(path), PROGRAMS "/%s", name);
	buffer_init(bytes, (size_t)1 << 26);
	assert_true(file_read(path, bytes, &err));
}

static void resolve(const void *bytes, size_t size)
{
	const struct symbolize_options options = { .threads = 1 };
	struct symbolize_result *result;
	struct elf_image *image;
	uint64_t addresses[256];
	struct error err;

	if (!elf_image_open_memory(bytes, size, "damaged", &image, &err))
		return;
	for (size_t i = 0; i < 256; i++)
		addresses[i] = 0x1000 + i * 0x11;
	if (symbolize_addresses(image, addresses, 256, &options, &result, &err)) {
		for (size_t i = 0; i < 256; i++)
			assert_true(symbolize_result_frames(result, i).count >= 1);
		symbolize_result_destroy(result);
	} else {
		assert_true(err.code != ERROR_NONE && err.message[0]);
	}
	elf_image_unref(image);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static const char *const sections[] = { ".debug_info", ".debug_abbrev", ".debug_line", ".debug_aranges",
	".debug_rnglists", ".debug_ranges", ".debug_str", ".debug_line_str", ".eh_frame_hdr", ".eh_frame", ".symtab",
	".dynsym", ".rela.plt", ".plt", ".text" };
static const char *const programs[] = { "c-gcc-5", "c-gcc-4", "c-gcc-2", "c-gcc-64", "stripped-unindexed" };

/* Bytes of one section at a time, so that damage is not lost in code. */
static void survives_damaged_sections(void **state)
{
	enum { ROUNDS = 12 };
	uint32_t seed = 7;

	for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
		CLEANUP(buffer_deinit) struct buffer bytes = { 0 };

		read_program(programs[p], &bytes);
		for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++) {
			struct elf_section section;
			struct elf_image *image;
			struct error err;
			size_t offset, size;
			const uint8_t *start;

			assert_true(elf_image_open_memory(bytes.data, bytes.size, programs[p], &image, &err));
			start = elf_image_bytes(image, &size);
			if (!elf_image_section(image, sections[s], &section) || section.size == 0) {
				elf_image_unref(image);
				continue;
			}
			offset = (size_t)(section.bytes - start);
			size = section.size;
			elf_image_unref(image);
			for (int round = 0; round < ROUNDS; round++) {
				CLEANUP(cleanup_free) char *copy = malloc(bytes.size);

				assert_non_null(copy);
				memcpy(copy, bytes.data, bytes.size);
				for (size_t i = 0; i < 1 + size / 64; i++)
					copy[offset + next_random(&seed) % size] = (char)next_random(&seed);
				resolve(copy, bytes.size);
				memset(copy + offset + size * (size_t)round / ROUNDS, round % 2 ? 0xff : 0,
					size - size * (size_t)round / ROUNDS);
				resolve(copy, bytes.size);
			}
		}
	}
}

static void survives_cut_files(void **state)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };

	read_program("c-gcc-5", &bytes);
	for (size_t i = 1; i < 60; i++)
		resolve(bytes.data, bytes.size * i / 60);
}

/* A name of 140 kB is cut, and says so; two that differ behind the cut stay two. */
static void names_without_measure_are_cut(void **state)
{
	static const char *const long_names[] = { "long-dwarf", "long-symbols" };
	const struct symbolize_options options = { .threads = 1 };

	for (size_t i = 0; i < sizeof(long_names) / sizeof(long_names[0]); i++) {
		struct symbolize_result *result;
		struct elf_section text;
		struct elf_image *image;
		char path[512], last[64] = "";
		size_t cut = 0;
		struct error err;

		snprintf(path, sizeof(path), PROGRAMS "/%s", long_names[i]);
		assert_true(elf_image_open_path(path, &image, &err));
		assert_true(elf_image_section(image, ".text", &text));
		for (uint64_t at = 0; at < text.size; at++) {
			uint64_t address = text.address + at;
			const char *name, *mark;

			assert_true(symbolize_addresses(image, &address, 1, &options, &result, &err));
			name = symbolize_result_frames(result, 0).frames[0].name;
			assert_true(strlen(name) <= NAME_MAX_BYTES);
			mark = strstr(name, "... [cut: 140001 bytes, ");
			if (mark && strcmp(last, mark) != 0) {
				snprintf(last, sizeof(last), "%s", mark);
				cut++;
			}
			symbolize_result_destroy(result);
		}
		assert_int_equal(cut, 2);
		elf_image_unref(image);
	}
}

static void a_name_is_cut_between_characters(void **state)
{
	CLEANUP(arena_deinit) struct arena arena;
	CLEANUP(cleanup_free) char *name = malloc(NAME_MAX_BYTES + 10);
	const char *copy;

	arena_init(&arena, 0);
	assert_non_null(name);
	memset(name, 'a', NAME_MAX_BYTES + 10);
	copy = name_copy(&arena, name, NAME_MAX_BYTES);
	assert_int_equal(strlen(copy), NAME_MAX_BYTES);
	for (size_t at = NAME_MAX_BYTES - 128; at < NAME_MAX_BYTES - 3; at += 3)
		memcpy(name + at, "\xe2\x82\xac", 3);
	copy = name_copy(&arena, name, NAME_MAX_BYTES + 10);
	assert_true(strlen(copy) <= NAME_MAX_BYTES);
	assert_int_equal((strstr(copy, "... [cut: 65546 bytes, ") - copy - (NAME_MAX_BYTES - 128)) % 3, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_damaged_sections),
		cmocka_unit_test(names_without_measure_are_cut),
		cmocka_unit_test(a_name_is_cut_between_characters),
		cmocka_unit_test(survives_cut_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
