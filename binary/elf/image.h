/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* A section header in the form of Elf64_Shdr. */
struct elf_section_header {
	const char *name; /* borrowed from the image; "" if the offset is out of range */
	uint32_t type, info, link;
	uint64_t flags, address, offset, size, alignment, entry_size;
};

/* A section that was inflated; `bytes` is NULL if it is damaged. */
struct elf_inflated {
	struct elf_inflated *next;
	size_t index; /* index of the section header */
	uint8_t *bytes;
	size_t size;
};

struct elf_image {
	atomic_uint references;
	char *path;
	int fd;                /* -1: the image is in memory */
	struct elf_root *root; /* a reference; NULL: it is in our own directory tree */
	uint8_t *bytes;
	size_t size;
	uint64_t disk_bytes; /* of the file that are really on disk: less than `size` where it has holes */
	struct elf_file_identity identity; /* at the time of opening; all 0: the image is in memory */
	size_t mapped_bytes; /* from `bytes` on, for munmap(): whole pages, and one of zeros; 0: free() releases `bytes`
			      */
	bool is_deleted;
	bool is_copy; /* `fd` is a copy of the file, which itself is not looked at again */
	bool is_64bit;
	bool has_interpreter;
	uint16_t machine, type;
	uint64_t entry;
	struct elf_build_id build_id;
	struct elf_segment *segments;
	size_t segment_count;
	uint64_t eh_frame_hdr_address, eh_frame_hdr_size; /* PT_GNU_EH_FRAME; 0: there is none */
	uint64_t dynamic_offset, dynamic_size;            /* PT_DYNAMIC in the file; 0: there is none */
	struct elf_section_header *sections;
	size_t section_count;
	char *section_names; /* owned, NUL-terminated */

	pthread_mutex_t lock; /* guards all members below */
	struct elf_inflated *inflated;
	uint64_t inflated_bytes; /* of all of them */
	bool has_refused;        /* a section was not inflated, because all together would exceed the image's limit */
	/* owned references; if `debug` is the image itself, it holds no reference */
	struct elf_image *debug, *debug_alt;
	enum elf_debug_source debug_source;
	bool debug_searched, debug_alt_searched;
	struct error debug_why;
};

/*
 * Parses the headers; `fd`, `bytes`, `size` and `path` are set. Headers are copied, since they must stay readable if
 * the file is truncated.
 */
COMMON_MUST_CHECK
bool elf_image_parse(struct elf_image *image, struct error *err);

/*
 * Gives an image without section headers those that its dynamic section tells: .dynsym, .dynstr, .rela.dyn, .rela.plt.
 * A part of parsing, when its segments are known. Fails only if memory runs out.
 */
COMMON_MUST_CHECK
bool elf_image_take_dynamic(struct elf_image *image, struct error *err);

/* Frees what elf_image_parse() allocated. */
void elf_image_free_tables(struct elf_image *image);

/*
 * Finds the offset of an image address in the file, and the number of bytes up to its segment's end; false if it has
 * none.
 */
COMMON_MUST_CHECK
bool elf_image_find_bytes(const struct elf_image *image, uint64_t address, uint64_t *offset, uint64_t *size);

/* Copies bytes of the file; false if the file does not have that many, or no longer has. */
COMMON_MUST_CHECK
bool elf_image_read(const struct elf_image *image, uint64_t offset, void *out, size_t size);

struct elf_file_identity elf_file_identity_of(const struct stat *info);

/* Returns whether both are the same build; a missing id equals none. */
bool elf_build_id_equal(const struct elf_build_id *a, const struct elf_build_id *b);
