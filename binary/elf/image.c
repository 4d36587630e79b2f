/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/elf/image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf_image *elf_image_ref(struct elf_image *image)
{
	atomic_fetch_add(&image->references, 1);
	return image;
}

void elf_image_free_tables(struct elf_image *image)
{
	free(image->segments);
	free(image->sections);
	free(image->section_names);
}

void elf_image_unref(struct elf_image *image)
{
	if (!image || atomic_fetch_sub(&image->references, 1) != 1)
		return;
	elf_root_unref(image->root);
	if (image->debug != image)
		elf_image_unref(image->debug);
	elf_image_unref(image->debug_alt);
	for (struct elf_inflated *inflated = image->inflated; inflated;) {
		struct elf_inflated *next = inflated->next;

		free(inflated->bytes);
		free(inflated);
		inflated = next;
	}
	if (image->mapped_bytes)
		munmap(image->bytes, image->mapped_bytes);
	else
		free(image->bytes);
	if (image->fd >= 0)
		close(image->fd);
	pthread_mutex_destroy(&image->lock);
	elf_image_free_tables(image);
	free(image->path);
	free(image);
}

struct elf_root {
	atomic_uint references;
	int fd;
};

struct elf_root *elf_root_create(int fd)
{
	struct elf_root *root = malloc(sizeof(*root));

	if (!root) {
		close(fd);
		return NULL;
	}
	atomic_init(&root->references, 1);
	root->fd = fd;
	return root;
}

struct elf_root *elf_root_ref(struct elf_root *root)
{
	atomic_fetch_add(&root->references, 1);
	return root;
}

void elf_root_unref(struct elf_root *root)
{
	if (!root || atomic_fetch_sub(&root->references, 1) != 1)
		return;
	close(root->fd);
	free(root);
}

void elf_image_set_root(struct elf_image *image, struct elf_root *root)
{
	image->root = elf_root_ref(root);
}

int elf_image_root(const struct elf_image *image)
{
	return image->root ? image->root->fd : -1;
}

void elf_image_root_path(const struct elf_image *image, char path[ELF_ROOT_PATH_BYTES])
{
	path[0] = '\0';
	if (image->root)
		snprintf(path, ELF_ROOT_PATH_BYTES, "/proc/self/fd/%d", image->root->fd);
}

const char *elf_image_path(const struct elf_image *image)
{
	return image->path;
}

int elf_image_descriptor(const struct elf_image *image)
{
	return image->fd;
}

uint64_t elf_image_most_bytes(const struct elf_image *image)
{
	/* The debug information of real programs is compressed to a third or a fifth. */
	enum { MOST_RATIO = 16, ANY_BYTES = 4 << 20 };

	return image->disk_bytes * MOST_RATIO + ANY_BYTES;
}

bool elf_image_read(const struct elf_image *image, uint64_t offset, void *out, size_t size)
{
	uint8_t *to = out;

	if (!checked_range(offset, size, image->size))
		return false;
	if (image->fd < 0) {
		if (size)
			memcpy(out, image->bytes + offset, size);
		return true;
	}
	while (size > 0) {
		ssize_t got = pread(image->fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

bool elf_image_has_refused(struct elf_image *image)
{
	bool has_refused;

	pthread_mutex_lock(&image->lock);
	has_refused = image->has_refused;
	pthread_mutex_unlock(&image->lock);
	return has_refused;
}

uint64_t elf_image_kept_bytes(struct elf_image *image)
{
	uint64_t bytes;

	pthread_mutex_lock(&image->lock);
	bytes = image->inflated_bytes + image->section_count * sizeof(*image->sections) +
		image->segment_count * sizeof(*image->segments);
	pthread_mutex_unlock(&image->lock);
	return bytes;
}

bool elf_image_is_deleted(const struct elf_image *image)
{
	struct stat info;

	return image->is_deleted ||
	       (image->fd >= 0 && !image->is_copy && fstat(image->fd, &info) == 0 && info.st_nlink == 0);
}

const struct elf_build_id *elf_image_build_id(const struct elf_image *image)
{
	return &image->build_id;
}

static int64_t nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct elf_file_identity elf_file_identity_of(const struct stat *info)
{
	return (struct elf_file_identity){
		.device = info->st_dev,
		.inode = info->st_ino,
		.size = (uint64_t)info->st_size,
		.modified_ns = nanoseconds(info->st_mtim),
		.changed_ns = nanoseconds(info->st_ctim),
	};
}

const struct elf_file_identity *elf_image_identity(const struct elf_image *image)
{
	return &image->identity;
}

uint16_t elf_image_machine(const struct elf_image *image)
{
	return image->machine;
}

bool elf_image_is_64bit(const struct elf_image *image)
{
	return image->is_64bit;
}

bool elf_image_is_executable(const struct elf_image *image)
{
	return image->type == ET_EXEC || (image->type == ET_DYN && image->has_interpreter);
}

uint64_t elf_image_entry(const struct elf_image *image)
{
	return image->entry;
}

const struct elf_segment *elf_image_segments(const struct elf_image *image, size_t *count)
{
	*count = image->segment_count;
	return image->segments;
}

const uint8_t *elf_image_bytes(const struct elf_image *image, size_t *size)
{
	*size = image->size;
	return image->bytes;
}

bool elf_image_find_bytes(const struct elf_image *image, uint64_t address, uint64_t *offset, uint64_t *size)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];
		uint64_t into = address - segment->address;

		if (address < segment->address || into >= segment->file_size)
			continue;
		*offset = segment->file_offset + into;
		*size = segment->file_size - into;
		return checked_range(segment->file_offset, segment->file_size, image->size);
	}
	return false;
}

const uint8_t *elf_image_bytes_at(const struct elf_image *image, uint64_t address, size_t *size)
{
	uint64_t offset;

	return elf_image_find_bytes(image, address, &offset, size) ? image->bytes + offset : NULL;
}
