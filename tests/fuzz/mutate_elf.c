/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_elf.h"

#include "tests/fuzz/mutate_section.h"

#include <elf.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SECTIONS = 256, MOST_SEGMENTS = 64, MOST_CONTENTS = 1 << 20, ALIGNMENT = 8, PACKING_LEVEL = 6 };

struct elf_file {
	struct mutation_span whole;
	Elf64_Ehdr header;
	Elf64_Phdr segments[MOST_SEGMENTS];
	Elf64_Shdr sections[MOST_SECTIONS];
	struct mutation_span contents[MOST_SECTIONS]; /* as they stand in the file */
	const char *names[MOST_SECTIONS];
	size_t loaded_bytes; /* of the file's start, which stays as it is: headers and what is loaded */
};

/* ---- Taking apart ---- */

static bool copy_table(const struct mutation_span *whole, uint64_t offset, void *into, size_t size)
{
	if (!checked_range(offset, size, whole->size))
		return false;
	memcpy(into, whole->bytes + offset, size);
	return true;
}

static size_t larger(size_t a, uint64_t b)
{
	return b > a ? (size_t)b : a;
}

static void find_contents(struct elf_file *file, size_t i)
{
	const Elf64_Shdr *section = &file->sections[i], *names = &file->sections[file->header.e_shstrndx];
	const char *end;

	if (section->sh_type != SHT_NOBITS && checked_range(section->sh_offset, section->sh_size, file->whole.size))
		file->contents[i] = (struct mutation_span){ file->whole.bytes + section->sh_offset, section->sh_size };
	if (file->contents[i].size > 0 && section->sh_flags & SHF_ALLOC)
		file->loaded_bytes = larger(file->loaded_bytes, section->sh_offset + section->sh_size);
	file->names[i] = "";
	if (!checked_range(names->sh_offset, names->sh_size, file->whole.size) || section->sh_name >= names->sh_size)
		return;
	end = memchr(file->whole.bytes + names->sh_offset + section->sh_name, '\0', names->sh_size - section->sh_name);
	if (end)
		file->names[i] = (const char *)file->whole.bytes + names->sh_offset + section->sh_name;
}

static bool elf_file_read(struct elf_file *file, const uint8_t *bytes, size_t size)
{
	Elf64_Ehdr *header = &file->header;

	file->whole = (struct mutation_span){ bytes, size };
	if (!copy_table(&file->whole, 0, header, sizeof(*header)) || memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
		header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shnum == 0 || header->e_shnum > MOST_SECTIONS ||
		header->e_phnum > MOST_SEGMENTS || header->e_shstrndx >= header->e_shnum)
		return false;
	if (!copy_table(&file->whole, header->e_shoff, file->sections, header->e_shnum * sizeof(file->sections[0])) ||
		!copy_table(&file->whole, header->e_phoff, file->segments, header->e_phnum * sizeof(file->segments[0])))
		return false;
	file->loaded_bytes = larger(sizeof(*header), header->e_phoff + header->e_phnum * sizeof(file->segments[0]));
	for (size_t i = 0; i < header->e_phnum; i++)
		if (file->segments[i].p_type == PT_LOAD &&
			checked_range(file->segments[i].p_offset, file->segments[i].p_filesz, size))
			file->loaded_bytes =
				larger(file->loaded_bytes, file->segments[i].p_offset + file->segments[i].p_filesz);
	for (size_t i = 0; i < header->e_shnum; i++)
		find_contents(file, i);
	return true;
}

/* ---- Packed sections ---- */

/* Appends the contents as they are once inflated. */
static void put_plain(const struct elf_file *file, size_t i, struct buffer *out)
{
	const struct mutation_span *span = &file->contents[i];
	struct libdeflate_decompressor *decompressor;
	Elf64_Chdr header;
	uint8_t *into;

	if (!(file->sections[i].sh_flags & SHF_COMPRESSED) || span->size < sizeof(header)) {
		buffer_append(out, span->bytes, span->size);
		return;
	}
	memcpy(&header, span->bytes, sizeof(header));
	into = header.ch_size < MOST_CONTENTS ? buffer_reserve(out, header.ch_size) : NULL;
	decompressor = libdeflate_alloc_decompressor();
	if (into && decompressor &&
		libdeflate_zlib_decompress(decompressor, span->bytes + sizeof(header), span->size - sizeof(header),
			into, header.ch_size, NULL) == LIBDEFLATE_SUCCESS)
		buffer_commit(out, header.ch_size);
	libdeflate_free_decompressor(decompressor);
}

static void put_packed(const struct buffer *plain, struct buffer *out)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(PACKING_LEVEL);
	Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = plain->size, .ch_addralign = 1 };
	size_t room = compressor ? libdeflate_zlib_compress_bound(compressor, plain->size) : 0;
	uint8_t *into;

	buffer_append(out, &header, sizeof(header));
	into = buffer_reserve(out, room);
	if (into && room > 0)
		buffer_commit(out, libdeflate_zlib_compress(compressor, plain->data, plain->size, into, room));
	libdeflate_free_compressor(compressor);
}

/* ---- Changes ---- */

/* One that readers of names look at, half of the time of debug information. */
static size_t elf_choose(struct mutation *m, const struct elf_file *file)
{
	static const char *const read[] = { ".eh_frame", ".symtab", ".dynsym", ".strtab", ".dynstr", ".note",
		".gnu_debug", ".rela.plt", ".plt", ".gopclntab", ".text" };
	size_t chosen = 0, seen = 0;
	bool is_debug = mutation_below(m, 4) > 0;

	for (size_t i = 1; i < file->header.e_shnum; i++) {
		bool is_wanted = is_debug && strncmp(file->names[i], ".debug_", 7) == 0;

		for (size_t k = 0; !is_debug && k < sizeof(read) / sizeof(read[0]); k++)
			is_wanted |= strncmp(file->names[i], read[k], strlen(read[k])) == 0;
		if (is_wanted && file->contents[i].size > 0 && mutation_below(m, ++seen) == 0)
			chosen = i;
	}
	return seen > 0 ? chosen : mutation_below(m, file->header.e_shnum);
}

static void change_header(struct mutation *m, struct elf_file *file)
{
	Elf64_Shdr *section = &file->sections[elf_choose(m, file)];

	switch (mutation_below(m, 6)) {
	case 0:
		section->sh_flags = mutation_number(m, section->sh_flags);
		return;
	case 1:
		section->sh_link = (Elf64_Word)mutation_below(m, file->header.e_shnum);
		return;
	case 2:
		section->sh_info = (Elf64_Word)mutation_number(m, section->sh_info);
		return;
	case 3:
		section->sh_entsize = mutation_number(m, section->sh_entsize);
		return;
	case 4:
		section->sh_type = (Elf64_Word)mutation_number(m, section->sh_type);
		return;
	default:
		section->sh_addr = mutation_number(m, section->sh_addr);
	}
}

/* What stays in its place keeps its size. */
static void put_in_place(struct elf_file *file, size_t chosen, const struct buffer *changed, struct buffer *out)
{
	size_t size = file->contents[chosen].size;

	if (!out->failed && changed->size > 0 && file->sections[chosen].sh_offset + size <= out->size)
		memcpy(out->data + file->sections[chosen].sh_offset, changed->data,
			changed->size < size ? changed->size : size);
}

static void change_contents(struct mutation *m, struct elf_file *file, size_t chosen, struct buffer *out)
{
	Elf64_Shdr *section = &file->sections[chosen];
	struct buffer plain;

	buffer_init(&plain, MOST_CONTENTS);
	put_plain(file, chosen, &plain);
	mutate_section(m, file->names[chosen], &(struct mutation_span){ (const uint8_t *)plain.data, plain.size }, out);
	if (!(section->sh_flags & SHF_ALLOC) && !(section->sh_flags & SHF_COMPRESSED) == !mutation_below(m, 16)) {
		plain.size = 0;
		put_packed(out, &plain);
		out->size = 0;
		buffer_append(out, plain.data, plain.size);
		section->sh_flags |= SHF_COMPRESSED;
	} else {
		section->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
	}
	out->failed |= plain.failed;
	buffer_deinit(&plain);
}

/* ---- Putting together ---- */

static void put_aligned(struct buffer *out)
{
	while (out->size % ALIGNMENT != 0 && !out->failed)
		buffer_append_byte(out, 0);
}

static void put_unloaded(struct elf_file *file, struct buffer *out)
{
	for (size_t i = 0; i < file->header.e_shnum; i++) {
		Elf64_Shdr *section = &file->sections[i];

		if (section->sh_flags & SHF_ALLOC || section->sh_type == SHT_NOBITS || file->contents[i].size == 0)
			continue;
		put_aligned(out);
		section->sh_offset = out->size;
		section->sh_size = file->contents[i].size;
		buffer_append(out, file->contents[i].bytes, file->contents[i].size);
	}
}

static void put_tables(struct elf_file *file, struct buffer *out)
{
	put_aligned(out);
	file->header.e_shoff = out->size;
	buffer_append(out, file->sections, file->header.e_shnum * sizeof(file->sections[0]));
	if (!out->failed)
		memcpy(out->data, &file->header, sizeof(file->header));
}

static void put_file(struct mutation *m, struct elf_file *file, struct buffer *out)
{
	size_t chosen = elf_choose(m, file);
	bool is_loaded = file->sections[chosen].sh_flags & SHF_ALLOC;
	struct buffer changed;

	buffer_init(&changed, MOST_CONTENTS);
	buffer_append(out, file->whole.bytes, file->loaded_bytes);
	if (mutation_below(m, 16) == 0) {
		change_header(m, file);
	} else {
		change_contents(m, file, chosen, &changed);
		if (is_loaded)
			put_in_place(file, chosen, &changed, out);
		else
			file->contents[chosen] = (struct mutation_span){ (const uint8_t *)changed.data, changed.size };
	}
	put_unloaded(file, out);
	put_tables(file, out);
	out->failed |= changed.failed;
	buffer_deinit(&changed);
}

void mutate_elf(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out)
{
	struct elf_file *file = calloc(1, sizeof(*file));

	if (file && elf_file_read(file, bytes, size))
		put_file(m, file, out);
	free(file);
}
