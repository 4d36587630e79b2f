/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds a build id in notes, and writes it in hexadecimal. */
#include "binary/elf/elf.h"

#include <elf.h>
#include <string.h>

bool elf_build_id_from_notes(
	const void *notes, size_t size, size_t alignment, struct elf_build_id *id, struct error *err)
{
	struct byte_reader r = byte_reader_over(notes, size);

	while (byte_reader_left(&r) > 0) {
		size_t offset = byte_reader_offset(&r);
		uint32_t name_size = byte_reader_u32(&r);
		uint32_t desc_size = byte_reader_u32(&r);
		uint32_t type = byte_reader_u32(&r);
		const uint8_t *name = byte_reader_bytes(&r, name_size);
		const uint8_t *desc;

		byte_reader_align(&r, alignment);
		desc = byte_reader_bytes(&r, desc_size);
		if (!byte_reader_ok(&r))
			return error_set(
				err, ERROR_FORMAT, "note at offset %zu runs past the end of its section", offset);
		/* The last note of a section may lack its padding. */
		if (byte_reader_left(&r) >= alignment)
			byte_reader_align(&r, alignment);

		if (type != NT_GNU_BUILD_ID || name_size != sizeof(ELF_NOTE_GNU) ||
			memcmp(name, ELF_NOTE_GNU, name_size) != 0)
			continue;
		if (desc_size > ELF_BUILD_ID_MAX_SIZE)
			return error_set(err, ERROR_FORMAT, "build id of %u bytes, at most %d are known", desc_size,
				ELF_BUILD_ID_MAX_SIZE);
		*id = (struct elf_build_id){ .size = (uint8_t)desc_size };
		memcpy(id->bytes, desc, desc_size);
		return true;
	}
	*id = (struct elf_build_id){ 0 };
	return true;
}

void elf_build_id_format(const struct elf_build_id *id, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < id->size; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	text[2 * (size_t)id->size] = '\0';
}

bool elf_build_id_parse(const char *text, struct elf_build_id *id)
{
	struct text_cursor left = text_over(text, strlen(text));

	*id = (struct elf_build_id){ 0 };
	while (id->size < ELF_BUILD_ID_MAX_SIZE && text_take_hex_byte(&left, &id->bytes[id->size]))
		id->size++;
	return text_left(left) == 0 && id->size > 0;
}
