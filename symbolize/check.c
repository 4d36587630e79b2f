/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that an image's file is whole enough to be named, and notes what it lacks. */
#include "symbolize/symbolize.h"

#include <elf.h>
#include <inttypes.h>
#include <stddef.h>

/*
 * The type and the end of the section table; a count of 0 sections (or more than a header can hold) has no end to
 * check.
 */
static uint16_t check_read_header(const struct elf_image *image, uint64_t *sections_end)
{
	bool is_64bit = elf_image_is_64bit(image);
	struct byte_reader r;
	const uint8_t *bytes;
	uint64_t offset, table_size;
	uint16_t type;
	size_t size;

	bytes = elf_image_bytes(image, &size);
	r = byte_reader_over(bytes, size);
	byte_reader_skip(&r, EI_NIDENT);
	type = byte_reader_u16(&r);
	byte_reader_seek(&r, is_64bit ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff));
	offset = byte_reader_uint(&r, is_64bit ? 8 : 4);
	byte_reader_seek(&r, is_64bit ? offsetof(Elf64_Ehdr, e_shentsize) : offsetof(Elf32_Ehdr, e_shentsize));
	table_size = byte_reader_u16(&r);
	table_size *= byte_reader_u16(&r);
	if (table_size == 0 || !checked_add(offset, table_size, sections_end))
		*sections_end = 0;
	return type;
}

/*
 * The end of the segments, for a file without a section table; in a debug file they may describe the stripped binary.
 */
static uint64_t segments_end(const struct elf_image *image)
{
	uint64_t claimed = 0, end;
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	for (size_t i = 0; i < count; i++)
		if (checked_add(segments[i].file_offset, segments[i].file_size, &end) && end > claimed)
			claimed = end;
	return claimed;
}

bool symbolize_check(const struct elf_image *image, struct buffer *notices, struct error *err)
{
	uint64_t claimed;
	uint16_t type = check_read_header(image, &claimed);
	size_t size;

	if (type == ET_REL)
		return error_set(err, ERROR_FORMAT,
			"%s is an object file: its addresses are settled when it is linked; ask the program or library made from it",
			elf_image_path(image));
	if (claimed == 0)
		claimed = segments_end(image);
	elf_image_bytes(image, &size);
	if (claimed > size)
		buffer_printf(notices,
			"%s is cut short: %zu of at least %" PRIu64 " bytes are there; names may be missing\n",
			elf_image_path(image), size, claimed);
	return true;
}
