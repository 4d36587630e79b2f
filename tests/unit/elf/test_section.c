/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "section_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static void sections_are_found_by_name(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so");
	struct elf_section section;

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

	assert_true(elf_image_section_start(plain, ".debug_info", 1, &expected));
	assert_true(elf_image_section(plain, ".debug_info", &expected));
	for (size_t i = 0; i < 2; i++) {
		struct elf_image *image = binary_open(packed[i]);
		const size_t starts[] = { 0, 1, 20, expected.size / 4, expected.size - 1, expected.size,
			expected.size + 1 };

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

enum { PACKED_BYTES = 5 << 20 };

/* Half of it cannot be made smaller: such blocks are stored. */
static uint8_t *bytes_to_pack(void)
{
	uint8_t *bytes = malloc(PACKED_BYTES);
	uint32_t random = 1;

	assert_non_null(bytes);
	for (size_t i = 0; i < PACKED_BYTES; i++) {
		random = random * 1664525 + 1013904223;
		bytes[i] = i >> 18 & 1 ? (uint8_t)(random >> 24) : (uint8_t)(i >> 8);
	}
	return bytes;
}

static struct elf_image *open_packed(const struct buffer *packed, const char *name, uint64_t flags)
{
	struct made_section section = { name, packed->data, packed->size, SHT_PROGBITS, 1, 1, flags };
	struct elf_image *image;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	made_elf(&section, &file);
	assert_true(elf_image_open_memory(file.data, file.size, "packed", &image, &err));
	return image;
}

/* `said`: how many bytes there are by the section's header. */
static struct elf_image *open_deflated(const uint8_t *bytes, int level, uint64_t said)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
	size_t room = libdeflate_zlib_compress_bound(compressor, PACKED_BYTES);
	struct elf_image *image;
	CLEANUP(buffer_deinit) struct buffer packed = { 0 };
	uint8_t *to;

	buffer_init(&packed, 1 << 24);
	buffer_append(&packed, "ZLIB", 4);
	said = htobe64(said);
	buffer_append(&packed, &said, sizeof(said));
	to = buffer_reserve(&packed, room);
	assert_non_null(to);
	buffer_commit(&packed, libdeflate_zlib_compress(compressor, bytes, PACKED_BYTES, to, room));
	libdeflate_free_compressor(compressor);
	image = open_packed(&packed, ".zdebug_info", 0);
	return image;
}

static struct elf_image *open_zstd(const uint8_t *bytes)
{
	const Elf64_Chdr header = { .ch_type = 2 /* ELFCOMPRESS_ZSTD */, .ch_size = PACKED_BYTES, .ch_addralign = 1 };
	size_t room = ZSTD_compressBound(PACKED_BYTES);
	struct elf_image *image;
	CLEANUP(buffer_deinit) struct buffer packed = { 0 };
	uint8_t *to;

	buffer_init(&packed, 1 << 24);
	buffer_append(&packed, &header, sizeof(header));
	to = buffer_reserve(&packed, room);
	assert_non_null(to);
	buffer_commit(&packed, ZSTD_compress(to, room, bytes, PACKED_BYTES, 1));
	image = open_packed(&packed, ".debug_info", SHF_COMPRESSED);
	return image;
}

/* The larger part of them is not inflated for a start. */
static void every_start_is_there_to_its_last_byte(void **state)
{
	static const size_t starts[] = { 1, 65535, 1 << 18, (1 << 18) + 1, (3 << 18) - 1, (3 << 18) + 40000, 3 << 20,
		(4 << 20) + 7 };
	uint8_t *bytes = bytes_to_pack();

	for (int kind = -1; kind <= 9; kind += 1 + (kind > 0) * 7) {
		for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
			struct elf_image *image =
				kind < 0 ? open_zstd(bytes) : open_deflated(bytes, kind, PACKED_BYTES);
			struct elf_section section;

			assert_true(elf_image_section_start(image, ".debug_info", starts[i], &section));
			assert_int_equal(section.size, starts[i]);
			assert_memory_equal(section.bytes, bytes, section.size);
			assert_true(elf_image_section(image, ".debug_info", &section));
			assert_int_equal(section.size, PACKED_BYTES);
			assert_memory_equal(section.bytes, bytes, section.size);
			elf_image_unref(image);
		}
	}
	free(bytes);
}

/* Compressed zeros: a file of some hundred kB that says it has 64 MB. */
static void a_section_out_of_proportion_to_its_file_is_refused(void **state)
{
	const size_t bomb_bytes = 64 << 20;
	uint8_t *zeros = calloc(1, bomb_bytes);
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
	struct elf_section section;
	struct elf_image *image;
	struct buffer packed;
	uint64_t said = htobe64(bomb_bytes);
	uint8_t *to;

	buffer_init(&packed, 1 << 24);
	buffer_append(&packed, "ZLIB", 4);
	buffer_append(&packed, &said, sizeof(said));
	to = buffer_reserve(&packed, 1 << 20);
	assert_non_null(to);
	buffer_commit(&packed, libdeflate_zlib_compress(compressor, zeros, bomb_bytes, to, 1 << 20));
	libdeflate_free_compressor(compressor);
	free(zeros);
	image = open_packed(&packed, ".zdebug_info", 0);
	buffer_deinit(&packed);
	assert_false(elf_image_has_refused(image));
	assert_false(elf_image_section(image, ".debug_info", &section));
	assert_true(elf_image_has_refused(image));
	assert_true(elf_image_kept_bytes(image) < 1 << 16);
	elf_image_unref(image);
}

/* A file that is a hole for the most part, whose headers claim to be full of names. */
static void claims_about_a_hole_take_no_memory(void **state)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_shoff = 4096,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 0 };
	Elf64_Shdr first = { .sh_size = 1 << 20 };
	char path[] = "/tmp/kelvin-hole-XXXXXX";
	struct elf_image *image;
	struct error err;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	assert_int_equal(pwrite(fd, &first, sizeof(first), 4096), sizeof(first));
	assert_int_equal(ftruncate(fd, (off_t)1 << 29), 0);
	close(fd);
	assert_true(elf_image_open_path(path, &image, &err));
	unlink(path);
	assert_true(elf_image_most_bytes(image) < 8 << 20);
	assert_true(elf_image_kept_bytes(image) < 8 << 20);
	elf_image_unref(image);
}

/* Neither as a whole nor as a start that reaches behind the end. */
static void a_section_shorter_than_it_says_is_not_there(void **state)
{
	uint8_t *bytes = bytes_to_pack();
	struct elf_image *image = open_deflated(bytes, 1, 2 * PACKED_BYTES);
	struct elf_section section;

	assert_true(elf_image_section_start(image, ".debug_info", PACKED_BYTES / 2, &section));
	assert_memory_equal(section.bytes, bytes, section.size);
	assert_false(elf_image_section_start(image, ".debug_info", PACKED_BYTES + 1, &section));
	assert_false(elf_image_section(image, ".debug_info", &section));
	elf_image_unref(image);
	free(bytes);
}

static void frame_information_is_found_without_sections(void **state)
{
	struct elf_image *with = binary_open("liboriginal.so"), *without;
	struct elf_section expected[2], found[2];
	size_t size;
	uint8_t *bytes = binary_without_sections("liboriginal.so", &size);
	struct error err;

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

/* Takes an entry out of the dynamic section, whose others stay. */
static void take_out(uint8_t *bytes, int64_t tag)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(bytes + header->e_phoff);

	for (size_t i = 0; i < header->e_phnum; i++)
		for (size_t at = 0; segments[i].p_type == PT_DYNAMIC && at < segments[i].p_filesz; at += 16) {
			Elf64_Dyn *entry = (Elf64_Dyn *)(bytes + segments[i].p_offset + at);

			if (entry->d_tag == tag)
				entry->d_tag = DT_DEBUG;
		}
}

/* By either kind of hash table, which alone tells how many symbols there are. */
static void what_the_loader_needs_is_found_without_sections(void **state)
{
	static const char *const names[] = { ".dynsym", ".dynstr", ".rela.dyn" };
	static const int64_t kept[] = { DT_HASH, DT_GNU_HASH };
	struct elf_image *with = binary_open("liboriginal.so"), *without;
	struct elf_section expected, found;
	struct error err;

	for (size_t k = 0; k < 2; k++) {
		size_t size;
		uint8_t *bytes = binary_without_sections("liboriginal.so", &size);

		take_out(bytes, kept[1 - k]);
		assert_true(elf_image_open_memory(bytes, size, "without sections", &without, &err));
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			assert_true(elf_image_section(with, names[i], &expected));
			assert_true(elf_image_section(without, names[i], &found));
			assert_int_equal(found.address, expected.address);
			assert_int_equal(found.type, expected.type);
			assert_int_equal(found.size, expected.size);
			assert_memory_equal(found.bytes, expected.bytes, expected.size);
		}
		elf_image_unref(without);
		/* With neither, nobody knows where the symbols end. */
		take_out(bytes, kept[k]);
		assert_true(elf_image_open_memory(bytes, size, "without sections", &without, &err));
		assert_false(elf_image_section(without, ".dynsym", &found));
		elf_image_unref(without);
		free(bytes);
	}
	elf_image_unref(with);
}

static void notes_hold_the_build_id(void **state)
{
	static const uint8_t note[] = { 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 0 };
	static const uint8_t other[] = { 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4 };
	uint8_t both[sizeof(other) + sizeof(note)];
	struct elf_build_id id = { .size = 99 };
	struct error err = { 0 };

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

	assert_false(elf_build_id_from_notes(note, sizeof(note), 4, &id, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

/* Notes of eight-byte alignment (.note.gnu.property and its neighbours) are padded to eight bytes. */
static void a_section_says_how_its_notes_are_padded(void **state)
{
	static const uint8_t notes[] = { 4, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4, 0, 0, 0,
		0, /* padding */
		4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 9, 8, 7, 6, 5, 4, 3, 2 };
	struct made_section section = { ".note.gnu.property", notes, sizeof(notes), SHT_NOTE, 8, 1 };

	for (unsigned int alignment = 8; alignment >= 4; alignment -= 4) {
		struct elf_image *image;
		CLEANUP(buffer_deinit) struct buffer file = { 0 };
		struct error err;

		section.alignment = alignment;
		made_elf(&section, &file);
		assert_true(elf_image_open_memory(file.data, file.size, "notes", &image, &err));
		assert_int_equal(elf_image_build_id(image)->size, alignment == 8 ? 8 : 0);
		elf_image_unref(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_found_by_name),
		cmocka_unit_test(packed_sections_inflate_to_the_same),
		cmocka_unit_test(the_start_of_a_packed_section_is_that_of_the_whole),
		cmocka_unit_test(every_start_is_there_to_its_last_byte),
		cmocka_unit_test(a_section_shorter_than_it_says_is_not_there),
		cmocka_unit_test(a_section_out_of_proportion_to_its_file_is_refused),
		cmocka_unit_test(claims_about_a_hole_take_no_memory),
		cmocka_unit_test(frame_information_is_found_without_sections),
		cmocka_unit_test(what_the_loader_needs_is_found_without_sections),
		cmocka_unit_test(notes_hold_the_build_id),
		cmocka_unit_test(a_build_id_too_long_is_refused),
		cmocka_unit_test(a_section_says_how_its_notes_are_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
