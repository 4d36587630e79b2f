/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes the files of the hostile tests: small programs for whom a failed system call ends the process with a message.
 */

/* Bytes that grow, owned. */
struct hostile_bytes {
	uint8_t *data;
	size_t size, capacity;
};

void hostile_add(struct hostile_bytes *bytes, const void *data, size_t size);
void hostile_add_zeros(struct hostile_bytes *bytes, size_t size);
void hostile_add_number(struct hostile_bytes *bytes, uint64_t value, size_t size); /* little-endian */
void hostile_add_leb128(struct hostile_bytes *bytes, uint64_t value);
void hostile_add_string(struct hostile_bytes *bytes, const char *text); /* with its NUL */
void hostile_write(const char *path, const struct hostile_bytes *bytes);

/*
 * `times` copies of a pattern, compressed: the pattern is compressed once, as blocks that refer to nothing before them,
 * and these blocks are repeated (RFC 1950 to 1952). So a bomb of gigabytes is made in a millisecond.
 */
enum hostile_packing { HOSTILE_ZLIB, HOSTILE_GZIP };
void hostile_pack(struct hostile_bytes *out, enum hostile_packing packing, const struct hostile_bytes *head,
	const struct hostile_bytes *pattern, uint64_t times);

enum { HOSTILE_CODE_OFFSET = 0x1000, HOSTILE_CODE_BYTES = 0x1000, HOSTILE_SECTIONS = 16 };

/*
 * An ELF file of one executable segment: its code, which works for a while and returns, lies at file offset and address
 * HOSTILE_CODE_OFFSET, so that the first two pages can be mapped as they are.
 */
struct hostile_elf {
	struct hostile_bytes bytes, names;
	Elf64_Shdr sections[HOSTILE_SECTIONS];
	size_t section_count;
	/*
	 * Not 0: the file ends with this many bytes, which are the two sections that are added last: one long name,
	 * whose NUL is the file's last byte. It begins where a page begins.
	 */
	size_t tail_bytes;
};

void hostile_elf_init(struct hostile_elf *elf);
/* Returns the section's number. */
size_t hostile_elf_add(struct hostile_elf *elf, const char *name, uint32_t type, const struct hostile_bytes *bytes);
/* A section of SHF_COMPRESSED by zlib: `head`, then `times` copies of the pattern. */
size_t hostile_elf_add_packed(struct hostile_elf *elf, const char *name, const struct hostile_bytes *head,
	const struct hostile_bytes *pattern, uint64_t times);
void hostile_elf_write(struct hostile_elf *elf, const char *path);
