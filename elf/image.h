/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* A section header as read from the file, in the form of Elf64_Shdr. */
struct elf_section_header {
	const char *name; /* borrowed from the image, "" when out of range */
	uint32_t type, info, link;
	uint64_t flags, address, offset, size, alignment, entry_size;
};

/* A section that had to be inflated; without bytes when it is damaged. */
struct elf_inflated {
	struct elf_inflated *next;
	size_t index; /* of its section header */
	uint8_t *bytes;
	size_t size;
};

struct elf_image {
	atomic_uint references;
	char *path;
	int fd; /* -1: from memory */
	uint8_t *bytes;
	size_t size;
	struct elf_file_identity identity; /* when it was opened; zero: from memory */
	bool is_mapped;                    /* bytes are munmap()ed, else freed */
	bool is_deleted;
	bool is_64bit;
	bool has_interpreter;
	uint16_t machine, type;
	uint64_t entry;
	struct elf_build_id build_id;
	struct elf_segment *segments;
	size_t segment_count;
	uint64_t eh_frame_hdr_address, eh_frame_hdr_size; /* PT_GNU_EH_FRAME, 0: none */
	struct elf_section_header *sections;
	size_t section_count;
	char *section_names; /* owned, NUL-terminated */

	pthread_mutex_t lock; /* for all below */
	struct elf_inflated *inflated;
	struct elf_image *debug, *debug_alt; /* owned references; debug == the image itself is not counted */
	enum elf_debug_source debug_source;
	bool debug_searched, debug_alt_searched;
	struct error debug_why;
	Elf *libelf;
};

/*
 * Fills everything that the headers tell; `fd`, `bytes`, `size` and `path` are set. Reads copies, never the mapping:
 * the headers must stay readable when the file is truncated.
 */
COMMON_MUST_CHECK
bool elf_image_parse(struct elf_image *image, struct error *err);

/* What elf_image_parse() allocated. */
void elf_image_free_tables(struct elf_image *image);

/* Copies bytes of the file; false when it does not hold (or no longer holds) as many. */
COMMON_MUST_CHECK
bool elf_image_read(const struct elf_image *image, uint64_t offset, void *out, size_t size);

struct elf_file_identity elf_file_identity_of(const struct stat *info);

/* The same build: no id equals none. */
bool elf_build_id_equal(const struct elf_build_id *a, const struct elf_build_id *b);
