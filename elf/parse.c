/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADERS = 1 << 20 };

/* Both classes, as the 64-bit form; gABI, "ELF Header". */
struct header {
	uint64_t program_offset, section_offset;
	uint32_t program_count, section_count, names_index;
	uint16_t program_entry_size, section_entry_size;
};

static bool read_header(struct elf_image *image, struct header *header, struct error *err)
{
	struct byte_reader r = byte_reader_over(image->bytes, image->size);
	const uint8_t *ident = byte_reader_bytes(&r, EI_NIDENT);
	size_t word;

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return error_set(err, ERROR_FORMAT, "not an ELF file");
	if (ident[EI_DATA] != ELFDATA2LSB || (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32))
		return error_set(err, ERROR_UNSUPPORTED, "ELF of class %d, byte order %d; little-endian only", ident[EI_CLASS],
			ident[EI_DATA]);
	image->is_64bit = ident[EI_CLASS] == ELFCLASS64;
	word = image->is_64bit ? 8 : 4;
	image->type = byte_reader_u16(&r);
	image->machine = byte_reader_u16(&r);
	byte_reader_u32(&r); /* version */
	image->entry = byte_reader_uint(&r, word);
	header->program_offset = byte_reader_uint(&r, word);
	header->section_offset = byte_reader_uint(&r, word);
	byte_reader_u32(&r); /* flags */
	byte_reader_u16(&r); /* header size */
	header->program_entry_size = byte_reader_u16(&r);
	header->program_count = byte_reader_u16(&r);
	header->section_entry_size = byte_reader_u16(&r);
	header->section_count = byte_reader_u16(&r);
	header->names_index = byte_reader_u16(&r);
	if (!byte_reader_ok(&r))
		return error_set(err, ERROR_FORMAT, "ELF header is cut off");
	return true;
}

static bool read_section_header(const struct elf_image *image, const struct header *header, uint32_t index,
	struct elf_section_header *section, uint32_t *name)
{
	struct byte_reader r = byte_reader_over(image->bytes, image->size);
	size_t word = image->is_64bit ? 8 : 4;
	uint64_t offset;

	if (!checked_add(header->section_offset, (uint64_t)index * header->section_entry_size, &offset))
		return false;
	byte_reader_seek(&r, offset);
	*name = byte_reader_u32(&r);
	section->type = byte_reader_u32(&r);
	section->flags = byte_reader_uint(&r, word);
	section->address = byte_reader_uint(&r, word);
	section->offset = byte_reader_uint(&r, word);
	section->size = byte_reader_uint(&r, word);
	section->link = byte_reader_u32(&r);
	section->info = byte_reader_u32(&r);
	byte_reader_uint(&r, word); /* alignment */
	section->entry_size = byte_reader_uint(&r, word);
	section->name = "";
	return byte_reader_ok(&r);
}

static bool name_sections(struct elf_image *image, const uint32_t *names, uint32_t names_index)
{
	const struct elf_section_header *table;
	const char *bytes;

	if (names_index >= image->section_count)
		return false;
	table = &image->sections[names_index];
	if (table->type != SHT_STRTAB || table->size == 0 || !checked_range(table->offset, table->size, image->size))
		return false;
	/* The last byte of a string table is NUL (gABI): whatever starts in it ends in it, without looking for the end. */
	bytes = (const char *)image->bytes + table->offset;
	if (bytes[table->size - 1] != '\0')
		return false;
	for (size_t i = 0; i < image->section_count; i++)
		image->sections[i].name = names[i] < table->size ? bytes + names[i] : "";
	return true;
}

/* Damaged section headers leave an image without sections: its segments still say all that is mapped. */
static bool read_sections(struct elf_image *image, struct header *header, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *names = NULL;
	struct elf_section_header first;
	uint32_t name;

	if (header->section_offset == 0 ||
		header->section_entry_size < (image->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
		!read_section_header(image, header, 0, &first, &name))
		return true;
	/* Counts that do not fit 16 bits stand in the first header. */
	if (header->section_count == 0)
		header->section_count = first.size <= MAX_HEADERS ? (uint32_t)first.size : 0;
	if (header->names_index == SHN_XINDEX)
		header->names_index = first.link;
	if (header->program_count == PN_XNUM)
		header->program_count = first.info;
	if (header->section_count == 0 ||
		!checked_range(header->section_offset, (uint64_t)header->section_count * header->section_entry_size, image->size))
		return true;
	image->sections = calloc(header->section_count, sizeof(*image->sections));
	names = calloc(header->section_count, sizeof(*names));
	if (!image->sections || !names)
		return error_set_memory(err);
	for (uint32_t i = 0; i < header->section_count; i++) {
		if (!read_section_header(image, header, i, &image->sections[i], &names[i]))
			return true;
		image->section_count++;
	}
	if (!name_sections(image, names, header->names_index))
		image->section_count = 0;
	return true;
}

struct program_header {
	uint32_t type, flags;
	uint64_t offset, address, file_size, memory_size, alignment;
};

static bool read_program_header(
	const struct elf_image *image, const struct header *header, uint32_t index, struct program_header *program)
{
	struct byte_reader r = byte_reader_over(image->bytes, image->size);
	size_t word = image->is_64bit ? 8 : 4;
	uint64_t offset;

	if (!checked_add(header->program_offset, (uint64_t)index * header->program_entry_size, &offset))
		return false;
	byte_reader_seek(&r, offset);
	program->type = byte_reader_u32(&r);
	if (image->is_64bit)
		program->flags = byte_reader_u32(&r);
	program->offset = byte_reader_uint(&r, word);
	program->address = byte_reader_uint(&r, word);
	byte_reader_uint(&r, word); /* physical address */
	program->file_size = byte_reader_uint(&r, word);
	program->memory_size = byte_reader_uint(&r, word);
	if (!image->is_64bit)
		program->flags = byte_reader_u32(&r);
	program->alignment = byte_reader_uint(&r, word);
	return byte_reader_ok(&r);
}

static void take_notes(struct elf_image *image, uint64_t offset, uint64_t size, uint64_t alignment)
{
	struct elf_build_id id;
	struct error ignored;

	if (image->build_id.size > 0 || !checked_range(offset, size, image->size))
		return;
	/* A broken note only means that the image stays without an id. */
	if (elf_build_id_from_notes(image->bytes + offset, size, alignment == 8 ? 8 : 4, &id, &ignored))
		image->build_id = id;
}

static void take_program_header(struct elf_image *image, const struct program_header *program)
{
	struct elf_segment *segment = &image->segments[image->segment_count];
	uint64_t end;

	switch (program->type) {
	case PT_LOAD:
		if (!checked_add(program->address, program->memory_size, &end) ||
			!checked_add(program->offset, program->file_size, &end))
			return;
		*segment = (struct elf_segment){ program->address, program->memory_size, program->offset, program->file_size,
			program->flags };
		if (segment->memory_size < segment->file_size)
			segment->memory_size = segment->file_size;
		image->segment_count++;
		break;
	case PT_INTERP:
		image->has_interpreter = true;
		break;
	case PT_NOTE:
		take_notes(image, program->offset, program->file_size, program->alignment);
		break;
	case PT_GNU_EH_FRAME:
		image->eh_frame_hdr_address = program->address;
		image->eh_frame_hdr_size = program->file_size;
		break;
	default:
		break;
	}
}

static bool read_segments(struct elf_image *image, const struct header *header, struct error *err)
{
	size_t least = image->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint32_t count = header->program_entry_size < least ? 0 : header->program_count;

	if (count > MAX_HEADERS)
		return error_set(err, ERROR_FORMAT, "%u program headers", count);
	image->segments = calloc(count ? count : 1, sizeof(*image->segments));
	if (!image->segments)
		return error_set_memory(err);
	for (uint32_t i = 0; i < count; i++) {
		struct program_header program = { 0 };

		if (!read_program_header(image, header, i, &program))
			break;
		take_program_header(image, &program);
	}
	return true;
}

bool elf_image_parse(struct elf_image *image, struct error *err)
{
	struct header header = { 0 };

	if (!read_header(image, &header, err) || !read_sections(image, &header, err) || !read_segments(image, &header, err))
		return false;
	for (size_t i = 0; i < image->section_count; i++)
		if (image->sections[i].type == SHT_NOTE)
			take_notes(image, image->sections[i].offset, image->sections[i].size, 4);
	return true;
}
