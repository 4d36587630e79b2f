/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries.h"
#include "made.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void sections_are_found_by_name(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so");
	struct elf_section section;

	(void)state;
	assert_true(elf_image_section(image, ".text", &section));
	assert_true(section.size > 0 && section.address > 0);
	assert_int_equal(section.flags & (SHF_ALLOC | SHF_EXECINSTR), SHF_ALLOC | SHF_EXECINSTR);
	assert_true(elf_image_section(image, ".dynsym", &section));
	assert_int_equal(section.type, SHT_DYNSYM);
	assert_int_equal(section.entry_size, sizeof(Elf64_Sym));
	assert_false(elf_image_section(image, ".bss", &section));
	assert_false(elf_image_section(image, ".no_such_section", &section));
	assert_false(elf_image_section(image, "", &section) && section.size > 0);
	elf_image_unref(image);
}

static void packed_sections_inflate_to_the_same(void **state)
{
	static const char *const packed[] = { "libcompressed.so", "libcompressed-gnu.so" };
	static const char *const names[] = { ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str" };
	struct elf_image *plain = binary_open("liboriginal.so");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct elf_image *image = binary_open(packed[i]);

		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
			struct elf_section expected, section, again;

			assert_true(elf_image_section(plain, names[n], &expected));
			assert_true(elf_image_section(image, names[n], &section));
			assert_int_equal(section.size, expected.size);
			assert_memory_equal(section.bytes, expected.bytes, expected.size);
			assert_true(elf_image_section(image, names[n], &again));
			assert_ptr_equal(section.bytes, again.bytes);
		}
		elf_image_unref(image);
	}
	elf_image_unref(plain);
}

/* Enough to fill the first half of a section, or, where that is as quick, all of it. */
static void the_start_of_a_packed_section_is_that_of_the_whole(void **state)
{
	static const char *const packed[] = { "libcompressed.so", "libcompressed-gnu.so" };
	struct elf_image *plain = binary_open("liboriginal.so");
	struct elf_section expected, section;

	(void)state;
	assert_true(elf_image_section_start(plain, ".debug_info", 1, &expected));
	assert_true(elf_image_section(plain, ".debug_info", &expected));
	for (size_t i = 0; i < 2; i++) {
		struct elf_image *image = binary_open(packed[i]);
		const size_t starts[] = { 0, 1, 20, expected.size / 4, expected.size - 1, expected.size, expected.size + 1 };

		for (size_t n = 0; n < sizeof(starts) / sizeof(*starts); n++) {
			assert_true(elf_image_section_start(image, ".debug_info", starts[n], &section));
			assert_true(section.size >= starts[n] || section.size == expected.size);
			assert_true(section.size <= expected.size);
			assert_memory_equal(section.bytes, expected.bytes, section.size);
		}
		assert_false(elf_image_section_start(image, ".no_such_section", 1, &section));
		elf_image_unref(image);
	}
	elf_image_unref(plain);
}

static void frame_information_is_found_without_sections(void **state)
{
	struct elf_image *with = binary_open("liboriginal.so"), *without;
	struct elf_section expected[2], found[2];
	Elf64_Ehdr header;
	uint8_t *bytes;
	size_t size;
	struct error err;

	(void)state;
	bytes = binary_bytes("liboriginal.so", &size);
	memcpy(&header, bytes, sizeof(header));
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	memcpy(bytes, &header, sizeof(header));
	assert_true(elf_image_open_memory(bytes, size, "without sections", &without, &err));
	elf_image_eh_frame(with, &expected[0], &expected[1]);
	elf_image_eh_frame(without, &found[0], &found[1]);
	assert_true(expected[0].size > 0 && expected[1].size > 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(found[i].address, expected[i].address);
		assert_true(found[i].size >= expected[i].size);
		assert_memory_equal(found[i].bytes, expected[i].bytes, expected[i].size);
	}
	assert_memory_equal(elf_image_build_id(without), elf_image_build_id(with), sizeof(struct elf_build_id));
	elf_image_unref(with);
	elf_image_unref(without);
	free(bytes);
}

static void notes_hold_the_build_id(void **state)
{
	static const uint8_t note[] = { 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 0 };
	static const uint8_t other[] = { 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4 };
	uint8_t both[sizeof(other) + sizeof(note)];
	struct elf_build_id id = { .size = 99 };
	struct error err = { 0 };

	(void)state;
	memcpy(both, other, sizeof(other));
	memcpy(both + sizeof(other), note, sizeof(note));
	assert_true(elf_build_id_from_notes(both, sizeof(both), 4, &id, &err));
	assert_int_equal(id.size, 3);
	assert_memory_equal(id.bytes, "\xab\xcd\xef", 3);
	for (size_t size = 1; size < sizeof(note) - 1; size++) {
		id.size = 99;
		if (!elf_build_id_from_notes(note, size, 4, &id, &err)) {
			assert_int_equal(err.code, ERROR_FORMAT);
			assert_int_equal(id.size, 99);
		}
	}
	assert_true(elf_build_id_from_notes(other, sizeof(other), 4, &id, &err));
	assert_int_equal(id.size, 0);
}

static void a_build_id_too_long_is_refused(void **state)
{
	uint8_t note[16 + 64] = { 4, 0, 0, 0, 64, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	struct elf_build_id id = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_false(elf_build_id_from_notes(note, sizeof(note), 4, &id, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

/* Notes of eight-byte alignment (.note.gnu.property and its neighbours) are padded to eight bytes. */
static void a_section_says_how_its_notes_are_padded(void **state)
{
	static const uint8_t notes[] = { 4, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4, 0, 0, 0, 0, /* padding */
		4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 9, 8, 7, 6, 5, 4, 3, 2 };
	struct made_section section = { ".note.gnu.property", notes, sizeof(notes), SHT_NOTE, 8, 1 };

	(void)state;
	for (unsigned int alignment = 8; alignment >= 4; alignment -= 4) {
		struct elf_image *image;
		struct buffer file;
		struct error err;

		section.alignment = alignment;
		made_elf(&section, &file);
		assert_true(elf_image_open_memory(file.data, file.size, "notes", &image, &err));
		assert_int_equal(elf_image_build_id(image)->size, alignment == 8 ? 8 : 0);
		elf_image_unref(image);
		buffer_deinit(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_found_by_name),
		cmocka_unit_test(packed_sections_inflate_to_the_same),
		cmocka_unit_test(the_start_of_a_packed_section_is_that_of_the_whole),
		cmocka_unit_test(frame_information_is_found_without_sections),
		cmocka_unit_test(notes_hold_the_build_id),
		cmocka_unit_test(a_build_id_too_long_is_refused),
		cmocka_unit_test(a_section_says_how_its_notes_are_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
