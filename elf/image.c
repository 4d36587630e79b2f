/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const char deleted_mark[] = " (deleted)";

/* An image that owns `fd` and nothing else yet; closes it on failure. */
static struct elf_image *image_of(int fd, const char *path, size_t path_size, struct error *err)
{
	struct elf_image *image = calloc(1, sizeof(*image));

	if (image)
		image->path = strndup(path, path_size);
	if (!image || !image->path) {
		free(image);
		if (fd >= 0)
			close(fd);
		error_set_memory(err);
		return NULL;
	}
	atomic_init(&image->references, 1);
	pthread_mutex_init(&image->lock, NULL);
	image->fd = fd;
	return image;
}

static bool map_file(struct elf_image *image, struct error *err)
{
	struct stat info;
	void *bytes;

	if (fstat(image->fd, &info) != 0)
		return error_set_errno(err, errno, "cannot look at %s", image->path);
	if (!S_ISREG(info.st_mode))
		return error_set(err, ERROR_FORMAT, "%s is not a regular file", image->path);
	if (info.st_size == 0)
		return error_set(err, ERROR_FORMAT, "%s is empty", image->path);
	bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, image->fd, 0);
	if (bytes == MAP_FAILED)
		return error_set_errno(err, errno, "cannot map %s", image->path);
	image->bytes = bytes;
	image->size = (size_t)info.st_size;
	image->is_mapped = true;
	image->is_deleted = info.st_nlink == 0;
	return true;
}

/* Takes `fd`. */
static bool open_descriptor(int fd, const char *path, size_t path_size, struct elf_image **image, struct error *err)
{
	struct elf_image *made = image_of(fd, path, path_size, err);

	if (!made)
		return false;
	if (!map_file(made, err)) {
		elf_image_unref(made);
		return false;
	}
	if (!elf_image_parse(made, err)) {
		error_prefix(err, "%s", made->path);
		elf_image_unref(made);
		return false;
	}
	*image = made;
	return true;
}

bool elf_image_open_path(const char *path, struct elf_image **image, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return error_set_errno(err, errno, "cannot open %s", path);
	return open_descriptor(fd, path, strlen(path), image, err);
}

static bool is_mapped_inode(int fd, const struct elf_mapping *mapping)
{
	struct stat info;

	/* The device is not compared: overlayfs and btrfs show another one in maps than in stat. */
	return mapping->inode == 0 || (fstat(fd, &info) == 0 && info.st_ino == mapping->inode);
}

static int open_candidate(const struct elf_mapping *mapping, const char *path, int path_size, bool deleted)
{
	char name[PATH_MAX + 64];
	int fd;

	if (mapping->pid > 0) {
		snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, mapping->pid, mapping->start, mapping->end);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	/* Under the name of a deleted file lies another one, if any; only its inode could tell. */
	for (int own = 0; own < 2 && !(deleted && mapping->inode == 0); own++) {
		if (own || mapping->pid == 0)
			snprintf(name, sizeof(name), "%.*s", path_size, path);
		else
			snprintf(name, sizeof(name), "/proc/%d/root%.*s", mapping->pid, path_size, path);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && is_mapped_inode(fd, mapping))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = ENOENT;
	return -1;
}

bool elf_image_open_mapping(const struct elf_mapping *mapping, struct elf_image **image, struct error *err)
{
	size_t size = strlen(mapping->path), mark = sizeof(deleted_mark) - 1;
	bool deleted = size > mark && strcmp(mapping->path + size - mark, deleted_mark) == 0;
	int fd;

	if (deleted)
		size -= mark;
	if (size == 0 || size >= PATH_MAX || mapping->path[0] != '/')
		return error_set(err, ERROR_NOT_FOUND, "no file is mapped at %" PRIx64, mapping->start);
	fd = open_candidate(mapping, mapping->path, (int)size, deleted);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot open %.*s of pid %d", (int)size, mapping->path, mapping->pid);
	if (!open_descriptor(fd, mapping->path, size, image, err))
		return false;
	(*image)->is_deleted |= deleted;
	return true;
}

bool elf_image_open_memory(const void *bytes, size_t size, const char *name, struct elf_image **image, struct error *err)
{
	struct elf_image *made = image_of(-1, name, strlen(name), err);

	if (!made)
		return false;
	made->bytes = malloc(size ? size : 1);
	if (!made->bytes) {
		elf_image_unref(made);
		return error_set_memory(err);
	}
	if (size)
		memcpy(made->bytes, bytes, size);
	made->size = size;
	if (!elf_image_parse(made, err)) {
		error_prefix(err, "%s", name);
		elf_image_unref(made);
		return false;
	}
	*image = made;
	return true;
}

struct elf_image *elf_image_ref(struct elf_image *image)
{
	atomic_fetch_add(&image->references, 1);
	return image;
}

void elf_image_unref(struct elf_image *image)
{
	if (!image || atomic_fetch_sub(&image->references, 1) != 1)
		return;
	if (image->libelf)
		elf_end(image->libelf);
	if (image->debug != image)
		elf_image_unref(image->debug);
	elf_image_unref(image->debug_alt);
	for (struct elf_inflated *inflated = image->inflated; inflated;) {
		struct elf_inflated *next = inflated->next;

		free(inflated->bytes);
		free(inflated);
		inflated = next;
	}
	if (image->is_mapped)
		munmap(image->bytes, image->size);
	else
		free(image->bytes);
	if (image->fd >= 0)
		close(image->fd);
	pthread_mutex_destroy(&image->lock);
	free(image->segments);
	free(image->sections);
	free(image->path);
	free(image);
}

const char *elf_image_path(const struct elf_image *image)
{
	return image->path;
}

bool elf_image_is_deleted(const struct elf_image *image)
{
	return image->is_deleted;
}

const struct elf_build_id *elf_image_build_id(const struct elf_image *image)
{
	return &image->build_id;
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

bool elf_image_address_of_offset(const struct elf_image *image, uint64_t file_offset, uint64_t *address)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (file_offset < segment->file_offset || file_offset - segment->file_offset >= segment->file_size)
			continue;
		if (!found || (!(found->flags & PF_X) && (segment->flags & PF_X)))
			found = segment;
	}
	if (!found)
		return false;
	*address = found->address + (file_offset - found->file_offset);
	return true;
}

const uint8_t *elf_image_bytes(const struct elf_image *image, size_t *size)
{
	*size = image->size;
	return image->bytes;
}

const uint8_t *elf_image_bytes_at(const struct elf_image *image, uint64_t address, size_t *size)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];
		uint64_t into = address - segment->address;

		if (address < segment->address || into >= segment->file_size)
			continue;
		if (!checked_range(segment->file_offset, segment->file_size, image->size))
			return NULL;
		*size = segment->file_size - into;
		return image->bytes + segment->file_offset + into;
	}
	return NULL;
}

Elf *elf_image_libelf(struct elf_image *image)
{
	pthread_mutex_lock(&image->lock);
	if (!image->libelf) {
		elf_version(EV_CURRENT);
		/* A private mapping of its own: libdw inflates compressed sections in place. */
		image->libelf = image->fd >= 0 ? elf_begin(image->fd, ELF_C_READ_MMAP_PRIVATE, NULL)
					       : elf_memory((char *)image->bytes, image->size);
	}
	pthread_mutex_unlock(&image->lock);
	return image->libelf;
}
