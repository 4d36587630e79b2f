/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile_elf.h"

#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PAGE_BYTES = 4096 };

void hostile_add(struct hostile_bytes *bytes, const void *data, size_t size)
{
	if (bytes->size + size > bytes->capacity) {
		bytes->capacity = 2 * (bytes->size + size);
		bytes->data = realloc(bytes->data, bytes->capacity);
		if (!bytes->data)
			hostile_fail("realloc");
	}
	if (data)
		memcpy(bytes->data + bytes->size, data, size);
	else
		memset(bytes->data + bytes->size, 0, size);
	bytes->size += size;
}

void hostile_add_zeros(struct hostile_bytes *bytes, size_t size)
{
	hostile_add(bytes, NULL, size);
}

void hostile_add_number(struct hostile_bytes *bytes, uint64_t value, size_t size)
{
	hostile_add(bytes, &value, size);
}

void hostile_add_leb128(struct hostile_bytes *bytes, uint64_t value)
{
	do {
		uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

		hostile_add(bytes, &byte, 1);
		value >>= 7;
	} while (value);
}

void hostile_add_string(struct hostile_bytes *bytes, const char *text)
{
	hostile_add(bytes, text, strlen(text) + 1);
}

void hostile_write(const char *path, const struct hostile_bytes *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0)
		hostile_fail(path);
	for (size_t done = 0; done < bytes->size;) {
		ssize_t count = write(fd, bytes->data + done, bytes->size - done);

		if (count < 0)
			hostile_fail(path);
		done += (size_t)count;
	}
	close(fd);
}

/* ---- Compressed repetitions ---- */

/* Compresses bytes to whole blocks without a header. */
static void deflate_alone(struct hostile_bytes *out, const struct hostile_bytes *in)
{
	size_t room = compressBound(in->size) + 64;
	z_stream stream = { .next_in = in->data, .avail_in = (uInt)in->size };
	uint8_t *packed = malloc(room);

	if (!packed || deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL,
			       Z_DEFAULT_STRATEGY) != Z_OK)
		hostile_fail("deflateInit2");
	stream.next_out = packed;
	stream.avail_out = (uInt)room;
	if (deflate(&stream, Z_FULL_FLUSH) != Z_OK)
		hostile_fail("deflate");
	hostile_add(out, packed, room - stream.avail_out);
	deflateEnd(&stream);
	free(packed);
}

typedef uLong combine(uLong first, uLong second, z_off_t second_size);

/* The checksum of a text that is repeated, by doubling. */
static uLong repeated(combine *combine, uLong start, uLong sum, uint64_t size, uint64_t times)
{
	for (; times; times >>= 1) {
		if (times & 1)
			start = combine(start, sum, (z_off_t)size);
		sum = combine(sum, sum, (z_off_t)size);
		size *= 2;
	}
	return start;
}

void hostile_pack(struct hostile_bytes *out, enum hostile_packing packing, const struct hostile_bytes *head,
	const struct hostile_bytes *pattern, uint64_t times)
{
	static const uint8_t zlib_header[] = { 0x78, 0x01 }, end[] = { 0x03, 0x00 };
	static const uint8_t gzip_header[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	struct hostile_bytes block = { 0 };
	uLong sum;

	hostile_add(out, packing == HOSTILE_ZLIB ? zlib_header : gzip_header,
		packing == HOSTILE_ZLIB ? sizeof(zlib_header) : sizeof(gzip_header));
	if (head->size)
		deflate_alone(out, head);
	deflate_alone(&block, pattern);
	for (uint64_t i = 0; i < times; i++)
		hostile_add(out, block.data, block.size);
	hostile_add(out, end, sizeof(end));
	if (packing == HOSTILE_ZLIB) {
		sum = repeated(adler32_combine, adler32(1, head->data, (uInt)head->size),
			adler32(1, pattern->data, (uInt)pattern->size), pattern->size, times);
		hostile_add_number(out, __builtin_bswap32((uint32_t)sum), 4);
	} else {
		sum = repeated(crc32_combine, crc32(0, head->data, (uInt)head->size),
			crc32(0, pattern->data, (uInt)pattern->size), pattern->size, times);
		hostile_add_number(out, (uint32_t)sum, 4);
		hostile_add_number(out, (uint32_t)(head->size + pattern->size * times), 4);
	}
	free(block.data);
}

/* ---- ELF ---- */

void hostile_elf_init(struct hostile_elf *elf)
{
	*elf = (struct hostile_elf){ .section_count = 1 };
	hostile_add_zeros(&elf->bytes, HOSTILE_CODE_OFFSET + HOSTILE_CODE_BYTES);
	memcpy(elf->bytes.data + HOSTILE_CODE_OFFSET, hostile_code, hostile_code_bytes);
	hostile_add_zeros(&elf->names, 1);
	elf->sections[1] = (Elf64_Shdr){ .sh_name = (uint32_t)elf->names.size,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = HOSTILE_CODE_OFFSET,
		.sh_offset = HOSTILE_CODE_OFFSET,
		.sh_size = HOSTILE_CODE_BYTES,
		.sh_addralign = 16 };
	elf->section_count = 2;
	hostile_add_string(&elf->names, ".text");
}

size_t hostile_elf_add(struct hostile_elf *elf, const char *name, uint32_t type, const struct hostile_bytes *bytes)
{
	if (elf->section_count == HOSTILE_SECTIONS)
		hostile_fail("too many sections");
	hostile_add_zeros(&elf->bytes, -elf->bytes.size % 8);
	elf->sections[elf->section_count] = (Elf64_Shdr){ .sh_name = (uint32_t)elf->names.size,
		.sh_type = type,
		.sh_offset = elf->bytes.size,
		.sh_size = bytes->size,
		.sh_addralign = 1 };
	hostile_add(&elf->bytes, bytes->data, bytes->size);
	hostile_add_string(&elf->names, name);
	return elf->section_count++;
}

size_t hostile_elf_add_packed(struct hostile_elf *elf, const char *name, const struct hostile_bytes *head,
	const struct hostile_bytes *pattern, uint64_t times)
{
	Elf64_Chdr header = {
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = head->size + pattern->size * times, .ch_addralign = 1
	};
	struct hostile_bytes bytes = { 0 };
	size_t number;

	hostile_add(&bytes, &header, sizeof(header));
	hostile_pack(&bytes, HOSTILE_ZLIB, head, pattern, times);
	number = hostile_elf_add(elf, name, SHT_PROGBITS, &bytes);
	elf->sections[number].sh_flags = SHF_COMPRESSED;
	free(bytes.data);
	return number;
}

static void write_headers(struct hostile_elf *elf, uint64_t section_offset)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = section_offset,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)elf->section_count,
		.e_shstrndx = (uint16_t)(elf->section_count - 1) };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_filesz = HOSTILE_CODE_OFFSET + HOSTILE_CODE_BYTES,
		.p_memsz = HOSTILE_CODE_OFFSET + HOSTILE_CODE_BYTES,
		.p_align = PAGE_BYTES };

	memcpy(elf->bytes.data, &header, sizeof(header));
	memcpy(elf->bytes.data + sizeof(header), &segment, sizeof(segment));
}

/* The two sections before the last one get the same bytes, at the end of the file. */
static void add_tail(struct hostile_elf *elf, uint64_t section_offset)
{
	Elf64_Shdr *section = &elf->sections[elf->section_count - 2];

	hostile_add_zeros(&elf->bytes, -elf->bytes.size % PAGE_BYTES);
	section->sh_offset = elf->bytes.size;
	section->sh_size = elf->tail_bytes;
	hostile_add_zeros(&elf->bytes, elf->tail_bytes);
	memset(elf->bytes.data + section->sh_offset, 'n', elf->tail_bytes - 1);
	section[-1].sh_offset = section->sh_offset;
	section[-1].sh_size = section->sh_size;
	memcpy(elf->bytes.data + section_offset, elf->sections, elf->section_count * sizeof(Elf64_Shdr));
}

/* The headers of the sections stand before their names. */
void hostile_elf_write(struct hostile_elf *elf, const char *path)
{
	size_t names = hostile_elf_add(elf, ".shstrtab", SHT_STRTAB, &elf->names);
	uint64_t offset;

	hostile_add_zeros(&elf->bytes, -elf->bytes.size % 8);
	offset = elf->bytes.size;
	elf->sections[names].sh_offset = offset + elf->section_count * sizeof(Elf64_Shdr);
	elf->sections[names].sh_size = elf->names.size;
	hostile_add(&elf->bytes, elf->sections, elf->section_count * sizeof(Elf64_Shdr));
	hostile_add(&elf->bytes, elf->names.data, elf->names.size);
	if (elf->tail_bytes)
		add_tail(elf, offset);
	write_headers(elf, offset);
	hostile_write(path, &elf->bytes);
	free(elf->bytes.data);
	free(elf->names.data);
}
