/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"

#include <pthread.h>
#include <stdatomic.h>

/* A section header as read from the file, in the form of Elf64_Shdr. */
struct elf_section_header {
	const char *name; /* borrowed from the file, "" when out of range */
	uint32_t type, info, link;
	uint64_t flags, address, offset, size, entry_size;
};

/* A section that had to be inflated. */
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
	bool is_mapped; /* bytes are munmap()ed, else freed */
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

	pthread_mutex_t lock; /* for all below */
	struct elf_inflated *inflated;
	struct elf_image *debug, *debug_alt; /* owned references; debug == the image itself is not counted */
	enum elf_debug_source debug_source;
	bool debug_searched, debug_alt_searched;
	struct error debug_why;
	Elf *libelf;
};

/* Fills everything that the bytes tell; `bytes`, `size` and `path` are set. */
COMMON_MUST_CHECK
bool elf_image_parse(struct elf_image *image, struct error *err);
