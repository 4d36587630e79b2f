/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/elf_around.h"

#include <elf.h>
#include <string.h>

enum { SEGMENTS = 3, STRINGS_BYTES = 4096 };

struct file {
	struct buffer *out;
	struct buffer strings;
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS];
	Elf64_Shdr sections[ELF_AROUND_MOST + 2]; /* the first is empty, the last holds the names */
	uint16_t count;
};

static void begin(struct file *file, struct buffer *out)
{
	*file = (struct file){
		.out = out,
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = SEGMENTS,
			.e_shentsize = sizeof(Elf64_Shdr) },
		.segments = { { .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_vaddr = ELF_AROUND_TEXT,
				      .p_filesz = ELF_AROUND_TEXT_BYTES,
				      .p_memsz = ELF_AROUND_TEXT_BYTES },
			{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = ELF_AROUND_BASE }, { .p_type = PT_NULL } },
		.count = 1,
	};
	buffer_init(&file->strings, STRINGS_BYTES);
	buffer_append_byte(&file->strings, 0);
	buffer_append(out, &file->header, sizeof(file->header));
	buffer_append(out, file->segments, sizeof(file->segments));
}

static void add(struct file *file, const struct elf_around_section *wanted, const uint8_t *bytes, size_t size)
{
	bool in_place = wanted->address == ELF_AROUND_IN_PLACE;
	size_t offset = file->out->size;

	file->sections[file->count++] = (Elf64_Shdr){ .sh_name = (Elf64_Word)file->strings.size,
		.sh_type = SHT_PROGBITS,
		.sh_addr = in_place ? ELF_AROUND_BASE + offset : wanted->address,
		.sh_offset = offset,
		.sh_size = size };
	if (strcmp(wanted->name, ".eh_frame_hdr") == 0)
		file->segments[2] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
			.p_flags = PF_R,
			.p_offset = offset,
			.p_vaddr = ELF_AROUND_BASE + offset,
			.p_filesz = size,
			.p_memsz = size };
	buffer_append(&file->strings, wanted->name, strlen(wanted->name) + 1);
	buffer_append(file->out, bytes, size);
}

static void end(struct file *file)
{
	static const char name[] = ".shstrtab";
	struct buffer *out = file->out;

	file->sections[file->count++] = (Elf64_Shdr){ .sh_name = (Elf64_Word)file->strings.size,
		.sh_type = SHT_STRTAB,
		.sh_offset = out->size,
		.sh_size = file->strings.size + sizeof(name) };
	buffer_append(&file->strings, name, sizeof(name));
	buffer_append(out, file->strings.data, file->strings.size);
	file->header.e_shstrndx = (Elf64_Half)(file->count - 1);
	file->header.e_shnum = file->count;
	file->header.e_shoff = out->size;
	buffer_append(out, file->sections, file->count * sizeof(file->sections[0]));
	file->segments[1].p_filesz = file->segments[1].p_memsz = out->size;
	if (out->failed)
		return;
	memcpy(out->data, &file->header, sizeof(file->header));
	memcpy((uint8_t *)out->data + sizeof(file->header), file->segments, sizeof(file->segments));
}

void elf_around(struct byte_reader input, const struct elf_around_section *sections, size_t count, struct buffer *out)
{
	struct byte_reader sizes = byte_reader_split(&input, count * sizeof(uint16_t));
	struct file file;

	begin(&file, out);
	for (size_t i = 0; i < count; i++) {
		size_t size = byte_reader_u16(&sizes);
		const uint8_t *bytes;

		size = size < byte_reader_left(&input) ? size : byte_reader_left(&input);
		bytes = byte_reader_bytes(&input, size);
		if (size > 0 && bytes)
			add(&file, &sections[i], bytes, size);
	}
	end(&file);
	buffer_deinit(&file.strings);
}
