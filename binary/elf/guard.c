/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells whether a mapped file is still the one that was opened, and fills a page that it has lost. */
#include "binary/elf/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

bool elf_build_id_equal(const struct elf_build_id *a, const struct elf_build_id *b)
{
	return a->size > 0 && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool has_same_layout(const struct elf_image *a, const struct elf_image *b)
{
	if (a->section_count != b->section_count)
		return false;
	for (size_t i = 0; i < a->section_count; i++)
		if (a->sections[i].offset != b->sections[i].offset || a->sections[i].size != b->sections[i].size)
			return false;
	return true;
}

/*
 * Returns whether the build is still the same after the file was written to: touch(1) is harmless, strip(1) moves
 * sections, and cp(1) brings another build.
 */
static bool is_still_the_same(const struct elf_image *image)
{
	struct elf_image now = {
		.path = image->path, .fd = image->fd, .size = image->size, .disk_bytes = image->disk_bytes
	};
	struct error ignored;
	bool same = elf_image_parse(&now, &ignored) && elf_build_id_equal(&now.build_id, &image->build_id) &&
		    has_same_layout(&now, image);

	elf_image_free_tables(&now);
	return same;
}

bool elf_image_is_intact(const struct elf_image *image)
{
	struct stat info;

	if (image->fd < 0 || image->is_copy)
		return true;
	if (fstat(image->fd, &info) != 0 || (uint64_t)info.st_size < image->size)
		return false;
	return elf_file_identity_of(&info).modified_ns == image->identity.modified_ns || is_still_the_same(image);
}

bool elf_image_fill_lost_page(const void *address)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)address & ~(page_bytes - 1));
	int before = errno;
	bool filled = mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;

	errno = before;
	return filled;
}
