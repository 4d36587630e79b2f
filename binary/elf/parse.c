/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads an image's headers: segments, sections, and notes. */
#include "binary/elf/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Caps on what is copied from a hostile file; each is far above what linkers write. */
enum { MAX_HEADERS = 1 << 20, MAX_NAME_BYTES = 64 << 20, MAX_NOTE_BYTES = 4 << 20 };

/* The ELF header of both classes, in 64-bit form (gABI, "ELF Header"). */
struct elf_header {
	uint64_t program_offset, section_offset;
	uint32_t program_count, section_count, names_index;
	uint16_t program_entry_size, section_entry_size;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Copies bytes of the file. `*copy` is NULL if the file does not have them. Fails only if memory runs out. */
static bool copy_bytes(const struct elf_image *image, uint64_t offset, uint64_t size, uint8_t **copy, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *made = NULL;

	*copy = NULL;
	/* A table in a hole of the file would be zeros, as many as the header claims. */
	if (!checked_range(offset, size, image->size) || size > elf_image_most_bytes(image))
		return true;
	made = malloc(size ? size : 1);
	if (!made)
		return error_set_memory(err);
	if (elf_image_read(image, offset, made, size))
		*copy = TAKE(made);
	return true;
}

static bool parse_header(struct elf_image *image, struct elf_header *header, struct error *err)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)] = { 0 };
	size_t size = least(image->size, sizeof(bytes));
	struct byte_reader r = byte_reader_over(bytes, elf_image_read(image, 0, bytes, size) ? size : 0);
	const uint8_t *ident = byte_reader_bytes(&r, EI_NIDENT);
	size_t word;

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return error_set(err, ERROR_FORMAT, "not an ELF file");
	if (ident[EI_DATA] != ELFDATA2LSB || (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32))
		return error_set(err, ERROR_UNSUPPORTED, "ELF of class %d, byte order %d; little-endian only",
			ident[EI_CLASS], ident[EI_DATA]);
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

/* Reads a section header, and returns the offset of its name. */
static uint32_t read_section_header(struct byte_reader *r, bool is_64bit, struct elf_section_header *section)
{
	size_t word = is_64bit ? 8 : 4;
	uint32_t name = byte_reader_u32(r);

	section->type = byte_reader_u32(r);
	section->flags = byte_reader_uint(r, word);
	section->address = byte_reader_uint(r, word);
	section->offset = byte_reader_uint(r, word);
	section->size = byte_reader_uint(r, word);
	section->link = byte_reader_u32(r);
	section->info = byte_reader_u32(r);
	section->alignment = byte_reader_uint(r, word);
	section->entry_size = byte_reader_uint(r, word);
	section->name = "";
	return name;
}

/* Counts that do not fit 16 bits are stored in the first section header. */
static void take_large_counts(const struct elf_image *image, struct elf_header *header)
{
	uint8_t bytes[sizeof(Elf64_Shdr)] = { 0 };
	struct byte_reader r = byte_reader_over(bytes, header->section_entry_size);
	struct elf_section_header first;

	if (!elf_image_read(image, header->section_offset, bytes, header->section_entry_size))
		return;
	read_section_header(&r, image->is_64bit, &first);
	if (header->section_count == 0)
		header->section_count = first.size <= MAX_HEADERS ? (uint32_t)first.size : 0;
	if (header->names_index == SHN_XINDEX)
		header->names_index = first.link;
	if (header->program_count == PN_XNUM)
		header->program_count = first.info;
}

/* Reads the section names, which the image keeps. Without names the sections are useless, and are dropped. */
static bool name_sections(struct elf_image *image, const uint32_t *names, uint32_t names_index, struct error *err)
{
	struct elf_section_header table = { 0 };
	uint8_t *bytes = NULL;

	if (names_index < image->section_count)
		table = image->sections[names_index];
	if (table.type == SHT_STRTAB && table.size > 0 && table.size <= MAX_NAME_BYTES &&
		!copy_bytes(image, table.offset, table.size, &bytes, err))
		return false;
	image->section_names = (char *)bytes;
	/* The last byte of a string table is NUL (gABI), so that every name in it ends within it. */
	if (!bytes || bytes[table.size - 1] != '\0') {
		image->section_count = 0;
		return true;
	}
	for (size_t i = 0; i < image->section_count; i++)
		if (names[i] < table.size)
			image->sections[i].name = image->section_names + names[i];
	return true;
}

/*
 * Reads the section headers. If they are damaged, the image has no sections; its segments still describe what is
 * mapped.
 */
static bool elf_parse_read_sections(struct elf_image *image, struct elf_header *header, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *table = NULL;
	CLEANUP(cleanup_free) uint32_t *names = NULL;
	struct byte_reader r;
	uint64_t size;

	if (header->section_offset == 0 ||
		header->section_entry_size != (image->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return true;
	take_large_counts(image, header);
	size = (uint64_t)header->section_count * header->section_entry_size;
	if (size == 0)
		return true;
	if (!copy_bytes(image, header->section_offset, size, &table, err))
		return false;
	if (!table)
		return true;
	image->sections = calloc(header->section_count, sizeof(*image->sections));
	names = calloc(header->section_count, sizeof(*names));
	if (!image->sections || !names)
		return error_set_memory(err);
	r = byte_reader_over(table, size);
	for (uint32_t i = 0; i < header->section_count; i++)
		names[i] = read_section_header(&r, image->is_64bit, &image->sections[i]);
	image->section_count = header->section_count;
	return name_sections(image, names, header->names_index, err);
}

struct program_header {
	uint32_t type, flags;
	uint64_t offset, address, file_size, memory_size, alignment;
};

static void read_program_header(struct byte_reader *r, bool is_64bit, struct program_header *program)
{
	size_t word = is_64bit ? 8 : 4;

	program->type = byte_reader_u32(r);
	if (is_64bit)
		program->flags = byte_reader_u32(r);
	program->offset = byte_reader_uint(r, word);
	program->address = byte_reader_uint(r, word);
	byte_reader_uint(r, word); /* physical address */
	program->file_size = byte_reader_uint(r, word);
	program->memory_size = byte_reader_uint(r, word);
	if (!is_64bit)
		program->flags = byte_reader_u32(r);
	program->alignment = byte_reader_uint(r, word);
}

/* `*room`: the number of bytes of notes that may still be read, since many headers may refer to the same ones. */
static bool take_notes(
	struct elf_image *image, uint64_t offset, uint64_t size, uint64_t alignment, uint64_t *room, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *notes = NULL;
	struct elf_build_id id;
	struct error ignored;

	if (image->build_id.size > 0 || size > *room)
		return true;
	*room -= size;
	if (!copy_bytes(image, offset, size, &notes, err))
		return false;
	/* If a note is broken, the image has no build id, which is no error. */
	if (notes && elf_build_id_from_notes(notes, size, alignment == 8 ? 8 : 4, &id, &ignored))
		image->build_id = id;
	return true;
}

static void take_load(struct elf_image *image, const struct program_header *program)
{
	uint64_t end, memory_size = program->memory_size;

	if (memory_size < program->file_size)
		memory_size = program->file_size;
	if (!checked_add(program->address, memory_size, &end) ||
		!checked_add(program->offset, program->file_size, &end))
		return;
	image->segments[image->segment_count++] = (struct elf_segment){ program->address, memory_size, program->offset,
		program->file_size, program->flags };
}

static bool take_program_header(
	struct elf_image *image, const struct program_header *program, uint64_t *note_room, struct error *err)
{
	switch (program->type) {
	case PT_LOAD:
		take_load(image, program);
		return true;
	case PT_INTERP:
		image->has_interpreter = true;
		return true;
	case PT_NOTE:
		return take_notes(image, program->offset, program->file_size, program->alignment, note_room, err);
	case PT_DYNAMIC:
		image->dynamic_offset = program->offset;
		image->dynamic_size = program->file_size;
		return true;
	case PT_GNU_EH_FRAME:
		image->eh_frame_hdr_address = program->address;
		image->eh_frame_hdr_size = program->file_size;
		return true;
	default:
		return true;
	}
}

/* Reads the program headers that the file contains: the start of a truncated table is still used. */
static bool read_segments(
	struct elf_image *image, const struct elf_header *header, uint64_t *note_room, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *table = NULL;
	size_t entry_size = header->program_entry_size;
	struct byte_reader r;
	uint64_t count;

	if (header->program_count > MAX_HEADERS)
		return error_set(err, ERROR_FORMAT, "it claims %u program headers, at most %d are read; is it damaged?",
			header->program_count, MAX_HEADERS);
	if (entry_size != (image->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
		header->program_offset > image->size)
		return true;
	count = least(header->program_count, (image->size - header->program_offset) / entry_size);
	if (!copy_bytes(image, header->program_offset, count * entry_size, &table, err))
		return false;
	if (!table || count == 0)
		return true;
	image->segments = calloc(count, sizeof(*image->segments));
	if (!image->segments)
		return error_set_memory(err);
	r = byte_reader_over(table, count * entry_size);
	while (count-- > 0) {
		struct program_header program = { 0 };

		read_program_header(&r, image->is_64bit, &program);
		if (!take_program_header(image, &program, note_room, err))
			return false;
	}
	return true;
}

bool elf_image_parse(struct elf_image *image, struct error *err)
{
	uint64_t note_room = MAX_NOTE_BYTES;
	struct elf_header header = { 0 };

	if (!parse_header(image, &header, err) || !elf_parse_read_sections(image, &header, err) ||
		!read_segments(image, &header, &note_room, err) || !elf_image_take_dynamic(image, err))
		return false;
	for (size_t i = 0; i < image->section_count; i++) {
		const struct elf_section_header *section = &image->sections[i];

		if (section->type == SHT_NOTE &&
			!take_notes(image, section->offset, section->size, section->alignment, &note_room, err))
			return false;
	}
	return true;
}
