/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "section_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <string.h>

/* The header, the section's bytes, the names, then the section headers: none, the names, the section. */
void made_elf(const struct made_section *section, struct buffer *file)
{
	uint32_t copies = section->copies ? section->copies : 1;
	Elf64_Ehdr header = { .e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(2 + copies),
		.e_shstrndx = 1 };
	Elf64_Shdr headers[3] = { { 0 }, { .sh_type = SHT_STRTAB, .sh_size = strlen(section->name) + 2 },
		{ .sh_name = 1,
			.sh_type = section->type,
			.sh_flags = section->flags,
			.sh_offset = sizeof(header),
			.sh_size = section->size,
			.sh_addralign = section->alignment } };
	struct error err;

	headers[1].sh_offset = sizeof(header) + section->size;
	header.e_shoff = headers[1].sh_offset + headers[1].sh_size;
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	buffer_init(file, 1 << 26);
	buffer_append(file, &header, sizeof(header));
	buffer_append(file, section->bytes, section->size);
	buffer_append_byte(file, 0);
	buffer_append(file, section->name, strlen(section->name) + 1);
	buffer_append(file, headers, sizeof(headers));
	for (uint32_t i = 1; i < copies; i++)
		buffer_append(file, &headers[2], sizeof(headers[2]));
	assert_true(buffer_ok(file, &err));
}
