/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/*
 * The readers of single sections: an ELF file is put together around them, so that what is changed is always their
 * bytes. The input begins with the sizes of the sections, 16 bits each, in the order of `names`; then come their bytes.
 * A section of size 0 is left out.
 */

enum { ADDRESSES = 64, STEP = 13, TEXT_START = 0x1000, SECTION_BYTES = UINT16_MAX };

static const char *const names[] = { ".debug_abbrev", ".debug_info", ".debug_line", ".debug_aranges", ".debug_rnglists",
	".debug_ranges", ".debug_str", ".debug_line_str", ".debug_addr", ".gopclntab", ".go.module", ".gnu_debugdata" };
enum { NAMES = sizeof(names) / sizeof(names[0]), TABLE_ADDRESS = 0x4000, HEADERS = NAMES + 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_header(Elf64_Shdr *header, struct buffer *strings, const char *name, size_t offset, size_t size)
{
	header->sh_name = (Elf64_Word)strings->size;
	header->sh_type = SHT_PROGBITS;
	header->sh_offset = offset;
	header->sh_size = size;
	header->sh_addr = strcmp(name, ".gopclntab") == 0 ? TABLE_ADDRESS : 0;
	buffer_append(strings, name, strlen(name) + 1);
}

static void put_together(struct byte_reader r, struct buffer *out)
{
	Elf64_Ehdr file = { .e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(file),
		.e_phoff = sizeof(file),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr) };
	const Elf64_Phdr text = { .p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = TEXT_START,
		.p_filesz = TEXT_START,
		.p_memsz = TEXT_START };
	struct byte_reader sizes = byte_reader_split(&r, NAMES * sizeof(uint16_t));
	Elf64_Shdr headers[HEADERS] = { 0 };
	struct buffer strings;
	uint16_t count = 1;

	buffer_init(&strings, SECTION_BYTES);
	buffer_append_byte(&strings, 0);
	memcpy(file.e_ident, ELFMAG, SELFMAG);
	file.e_ident[EI_CLASS] = ELFCLASS64;
	file.e_ident[EI_DATA] = ELFDATA2LSB;
	file.e_ident[EI_VERSION] = EV_CURRENT;
	buffer_append(out, &file, sizeof(file));
	buffer_append(out, &text, sizeof(text));
	for (size_t i = 0; i < NAMES; i++) {
		size_t size = byte_reader_u16(&sizes);
		const uint8_t *bytes;

		size = size < byte_reader_left(&r) ? size : byte_reader_left(&r);
		bytes = byte_reader_bytes(&r, size);
		if (size == 0 || !bytes)
			continue;
		add_header(&headers[count++], &strings, names[i], out->size, size);
		buffer_append(out, bytes, size);
	}
	add_header(&headers[count], &strings, ".shstrtab", out->size, strings.size + sizeof(".shstrtab"));
	headers[count].sh_type = SHT_STRTAB;
	buffer_append(out, strings.data, strings.size);
	file.e_shstrndx = count++;
	file.e_shnum = count;
	file.e_shoff = out->size;
	buffer_append(out, headers, count * sizeof(headers[0]));
	if (!out->failed)
		memcpy(out->data, &file, sizeof(file));
	buffer_deinit(&strings);
}

static void resolve(const struct buffer *file)
{
	const struct symbolize_options options = { .threads = 1, .fingerprints = SYMBOLIZE_FINGERPRINT_NONE };
	struct symbolize_result *result;
	struct elf_image *image;
	uint64_t addresses[ADDRESSES];
	struct error err;

	if (!elf_image_open_memory(file->data, file->size, "fuzz", &image, &err))
		return;
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = TEXT_START + i * STEP;
	if (symbolize_addresses(image, addresses, ADDRESSES, &options, &result, &err)) {
		for (size_t i = 0; i < ADDRESSES; i++)
			if (symbolize_result_frames(result, i).count == 0)
				abort();
		symbolize_result_destroy(result);
	}
	elf_image_unref(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer file;

	if (size <= NAMES * sizeof(uint16_t))
		return 0;
	buffer_init(&file, (size_t)1 << 21);
	put_together(byte_reader_over(data, size), &file);
	if (!file.failed)
		resolve(&file);
	buffer_deinit(&file);
	return 0;
}
