/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/frame/elf_bytes.h"

#include "tests/unit/support/bytes.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

enum { HDR_AT = 0x200, EH_FRAME_AT = ELF_BYTES_EH_FRAME, CIE_LENGTH_AT = EH_FRAME_AT };

/* Pads with DW_CFA_nop and writes the length that stands at `start`. */
static void end_entry(struct bytes *file, size_t start)
{
	uint32_t length;

	while ((file->size - start) % 8 != 0)
		bytes_put8(file, DW_CFA_nop);
	length = (uint32_t)(file->size - start - sizeof(length));
	memcpy(file->data + start, &length, sizeof(length));
}

static void put_cie(struct bytes *file, const struct elf_bytes *wanted)
{
	const char *augmentation = wanted->is_signal_frame ? "zRS" : "zR";

	bytes_put32(file, 0);
	bytes_put32(file, 0);
	bytes_put8(file, 1);
	bytes_put(file, augmentation, strlen(augmentation) + 1);
	bytes_put8(file, 1);    /* code alignment */
	bytes_put8(file, 0x78); /* data alignment -8 */
	bytes_put8(file, 16);   /* return address register */
	bytes_put8(file, 1);
	bytes_put8(file, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	bytes_put(file, wanted->cie_instructions, wanted->cie_size);
	end_entry(file, CIE_LENGTH_AT);
}

static size_t put_fde(struct bytes *file, const struct elf_bytes *wanted)
{
	size_t start = file->size;

	bytes_put32(file, 0);
	bytes_put32(file, (uint32_t)(file->size - CIE_LENGTH_AT));
	bytes_put32(file, (uint32_t)(ELF_BYTES_CODE - file->size));
	bytes_put32(file, ELF_BYTES_CODE_SIZE);
	bytes_put8(file, 0);
	bytes_put(file, wanted->fde_instructions, wanted->fde_size);
	end_entry(file, start);
	bytes_put32(file, 0);
	return start;
}

static void put_header(struct bytes *file, size_t fde)
{
	struct bytes header = { .size = 0 };

	bytes_put8(&header, 1);
	bytes_put8(&header, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	bytes_put8(&header, DW_EH_PE_udata4);
	bytes_put8(&header, DW_EH_PE_datarel | DW_EH_PE_sdata4);
	bytes_put32(&header, EH_FRAME_AT - HDR_AT - 4);
	bytes_put32(&header, 1);
	bytes_put32(&header, ELF_BYTES_CODE - HDR_AT);
	bytes_put32(&header, (uint32_t)fde - HDR_AT);
	memcpy(file->data + HDR_AT, header.data, header.size);
}

/* A section table with .eh_frame, for files without the search table. */
static void put_sections(struct bytes *file, Elf64_Ehdr *ehdr, size_t eh_frame_size)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = EH_FRAME_AT,
			.sh_offset = EH_FRAME_AT,
			.sh_size = eh_frame_size,
			.sh_addralign = 8 },
		{ .sh_name = 11,
			.sh_type = SHT_STRTAB,
			.sh_offset = 0xe00,
			.sh_size = sizeof(names),
			.sh_addralign = 1 },
	};

	memcpy(file->data + 0xe00, names, sizeof(names));
	memcpy(file->data + 0xe40, sections, sizeof(sections));
	ehdr->e_shoff = 0xe40;
	ehdr->e_shnum = 3;
	ehdr->e_shentsize = sizeof(Elf64_Shdr);
	ehdr->e_shstrndx = 2;
}

static bool open_image(const struct elf_bytes *wanted, struct elf_image **image, struct error *err)
{
	struct bytes file = { .size = EH_FRAME_AT };
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = wanted->machine ? wanted->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(ehdr),
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = BYTES_MOST,
			.p_memsz = 2 * ELF_BYTES_CODE,
			.p_align = 0x1000 },
		{ .p_type = PT_GNU_EH_FRAME,
			.p_flags = PF_R,
			.p_offset = HDR_AT,
			.p_vaddr = HDR_AT,
			.p_filesz = 0x40,
			.p_memsz = 0x40 },
	};
	size_t fde = 0, end;

	if (wanted->eh_frame) {
		bytes_put(&file, wanted->eh_frame, wanted->eh_frame_size);
	} else {
		put_cie(&file, wanted);
		fde = put_fde(&file, wanted);
	}
	end = file.size;
	if (wanted->has_header)
		put_header(&file, fde);
	else
		ehdr.e_phnum = 1;
	put_sections(&file, &ehdr, end - EH_FRAME_AT);
	memcpy(file.data, &ehdr, sizeof(ehdr));
	memcpy(file.data + sizeof(ehdr), segments, sizeof(segments));
	return elf_image_open_memory(file.data, sizeof(file.data), "hand-built", image, err);
}

bool elf_bytes_table(const struct elf_bytes *wanted, struct frame_table **table, struct error *err)
{
	struct elf_image *image;
	bool created;

	if (!open_image(wanted, &image, err))
		return false;
	created = frame_table_create(image, FRAME_RULES, table, err);
	elf_image_unref(image);
	return created;
}
