/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "section_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Touches every byte that an image hands out: the sanitizer watches an exact copy of the file. */
static uint64_t touch(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

/* Opens what may be anything and asks for all there is. */
static uint64_t ask_everything(const uint8_t *bytes, size_t size)
{
	static const char *const names[] = { ".text", ".dynsym", ".dynstr", ".rela.dyn", ".symtab", ".strtab",
		".debug_info", ".debug_line", ".eh_frame", "" };
	struct elf_section section, header;
	const struct elf_segment *segments;
	struct elf_image *image;
	struct error err;
	uint64_t sum = 0;
	size_t count;

	if (!elf_image_open_memory(bytes, size, "hostile", &image, &err))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (elf_image_section(image, names[i], &section))
			sum += touch(section.bytes, section.size);
	elf_image_eh_frame(image, &section, &header);
	sum += touch(section.bytes, section.size) + touch(header.bytes, header.size);
	segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = elf_image_bytes_at(image, segments[i].address, &size);

		sum += at ? touch(at, size) : 0;
	}
	elf_image_unref(image);
	return sum;
}

static uint8_t *exact_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, bytes, size);
	return copy;
}

static void every_truncation_is_survived(void **state)
{
	size_t size;
	uint8_t *bytes = binary_bytes("libcompressed.so", &size);

	for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 37) {
		uint8_t *copy = exact_copy(bytes, cut);

		ask_everything(copy, cut);
		free(copy);
	}
	free(bytes);
}

/* Headers are where a byte does harm: all of them, and a sample of the rest. */
static void every_damaged_byte_is_survived(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t size;
	uint8_t *bytes = binary_bytes("libcompressed.so", &size);
	Elf64_Ehdr header;

	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < size; i++) {
		bool in_headers = i < 1024 || i >= header.e_shoff;
		uint8_t kept = bytes[i];

		if (!in_headers && i % 61 != 0)
			continue;
		for (size_t v = 0; v < sizeof(values); v++) {
			bytes[i] = values[v];
			ask_everything(bytes, size);
		}
		bytes[i] = kept;
	}
	free(bytes);
}

/* What the loader needs stands before code: all its bytes, and those of the dynamic section, behind code. */
static void a_damaged_dynamic_section_is_survived(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
	size_t size;
	uint8_t *bytes = binary_without_sections("liboriginal.so", &size);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(bytes + header->e_phoff);
	size_t start = 0, end = 0;

	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC) {
			start = segments[i].p_offset;
			end = start + segments[i].p_filesz;
		}
	assert_true(start > 0);
	for (size_t i = sizeof(*header); i < end; i = i == 0x5ff ? start : i + 1) {
		uint8_t damaged = bytes[i];

		for (size_t v = 0; v < sizeof(values); v++) {
			bytes[i] = values[v];
			ask_everything(bytes, size);
		}
		bytes[i] = damaged;
	}
	for (size_t cut = 0; cut < size; cut += 37) {
		uint8_t *copy = exact_copy(bytes, cut);

		ask_everything(copy, cut);
		free(copy);
	}
	free(bytes);
}

/* A section of a few bytes that claims to inflate to gigabytes is refused before anything is reserved for it. */
static void an_inflated_size_out_of_proportion_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = binary_bytes("libcompressed.so", &size);
	struct elf_section section;
	struct elf_image *image;
	Elf64_Ehdr header;
	struct error err;

	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr part;
		Elf64_Chdr packed;

		memcpy(&part, bytes + header.e_shoff + i * sizeof(part), sizeof(part));
		if (!(part.sh_flags & SHF_COMPRESSED))
			continue;
		memcpy(&packed, bytes + part.sh_offset, sizeof(packed));
		packed.ch_size = (uint64_t)3 << 30;
		memcpy(bytes + part.sh_offset, &packed, sizeof(packed));
	}
	assert_true(elf_image_open_memory(bytes, size, "bomb", &image, &err));
	assert_false(elf_image_section(image, ".debug_info", &section));
	elf_image_unref(image);
	free(bytes);
}

/* Tens of thousands of sections whose names all start in one long text: opened in linear time. */
static void many_sections_with_long_names_are_read_once(void **state)
{
	enum { SECTIONS = 60000, NAMES = 1 << 20 };
	size_t size = sizeof(Elf64_Ehdr) + (size_t)SECTIONS * sizeof(Elf64_Shdr) + NAMES;
	uint8_t *bytes = calloc(1, size);
	Elf64_Ehdr header = { .e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_shoff = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = 1 };
	Elf64_Shdr names = { .sh_type = SHT_STRTAB, .sh_offset = size - NAMES, .sh_size = NAMES };
	struct elf_section section;
	struct elf_image *image;
	struct error err;

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header) + sizeof(names), &names, sizeof(names));
	memset(bytes + size - NAMES, 'x', NAMES - 1);
	assert_true(elf_image_open_memory(bytes, size, "many", &image, &err));
	assert_false(elf_image_section(image, ".text", &section));
	elf_image_unref(image);
	free(bytes);
}

/* Tens of thousands of sections that all are the same long list of notes: read a bounded number of times. */
static void many_sections_of_the_same_notes_end(void **state)
{
	enum { SECTIONS = 60000, NOTES = 100000 };
	static const uint8_t note[] = { 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0 };
	struct made_section section = { ".note", NULL, NOTES * sizeof(note), SHT_NOTE, 4, SECTIONS };
	uint8_t *notes = malloc(section.size);
	struct elf_image *image;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	assert_non_null(notes);
	for (size_t i = 0; i < NOTES; i++)
		memcpy(notes + i * sizeof(note), note, sizeof(note));
	section.bytes = notes;
	made_elf(&section, &file);
	alarm(60);
	assert_true(elf_image_open_memory(file.data, file.size, "notes", &image, &err));
	alarm(0);
	assert_int_equal(elf_image_build_id(image)->size, 0);
	elf_image_unref(image);
	free(notes);
}

/* Neither a name table without end nor one that is not there leaves a section to find. */
static void names_without_an_end_are_no_names(void **state)
{
	struct made_section section = { ".text", "code", 4, SHT_PROGBITS, 1, 1 };
	struct elf_section found;
	struct elf_image *image;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	made_elf(&section, &file);
	assert_true(elf_image_open_memory(file.data, file.size, "whole", &image, &err));
	assert_true(elf_image_section(image, ".text", &found));
	assert_memory_equal(found.bytes, "code", 4);
	elf_image_unref(image);
	file.data[sizeof(Elf64_Ehdr) + 4 + sizeof("..text") - 1] = 'x';
	assert_true(elf_image_open_memory(file.data, file.size, "endless", &image, &err));
	assert_false(elf_image_section(image, ".text", &found));
	elf_image_unref(image);
}

/* A segment whose end wraps round would make ranges that end before they start. */
static void a_segment_that_wraps_is_dropped(void **state)
{
	size_t size, count, with;
	uint8_t *bytes = binary_bytes("liboriginal.so", &size);
	const struct elf_segment *segments;
	struct elf_image *image;
	Elf64_Ehdr header;
	Elf64_Phdr first;
	struct error err;

	assert_true(elf_image_open_memory(bytes, size, "whole", &image, &err));
	elf_image_segments(image, &with);
	elf_image_unref(image);
	memcpy(&header, bytes, sizeof(header));
	memcpy(&first, bytes + header.e_phoff, sizeof(first));
	assert_int_equal(first.p_type, PT_LOAD);
	first.p_vaddr = UINT64_MAX - 8;
	first.p_memsz = 4;
	memcpy(bytes + header.e_phoff, &first, sizeof(first));
	assert_true(elf_image_open_memory(bytes, size, "wrapped", &image, &err));
	segments = elf_image_segments(image, &count);
	assert_int_equal(count, with - 1);
	for (size_t i = 0; i < count; i++)
		assert_true(segments[i].address + segments[i].memory_size >= segments[i].address);
	elf_image_unref(image);
	free(bytes);
}

/* Every byte of a file small enough for that, with every value. */
static void every_value_of_every_byte_is_survived(void **state)
{
	static const uint8_t note[] = { 4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4 };
	struct made_section section = { ".note", note, sizeof(note), SHT_NOTE, 4, 1 };
	CLEANUP(buffer_deinit) struct buffer file = { 0 };

	made_elf(&section, &file);
	for (size_t i = 0; i < file.size; i++) {
		char kept = file.data[i];

		for (int value = 0; value < 256; value++) {
			file.data[i] = (char)value;
			ask_everything((uint8_t *)file.data, file.size);
		}
		file.data[i] = kept;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_truncation_is_survived),
		cmocka_unit_test(every_damaged_byte_is_survived),
		cmocka_unit_test(a_damaged_dynamic_section_is_survived),
		cmocka_unit_test(an_inflated_size_out_of_proportion_is_refused),
		cmocka_unit_test(many_sections_with_long_names_are_read_once),
		cmocka_unit_test(many_sections_of_the_same_notes_end),
		cmocka_unit_test(names_without_an_end_are_no_names),
		cmocka_unit_test(a_segment_that_wraps_is_dropped),
		cmocka_unit_test(every_value_of_every_byte_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
