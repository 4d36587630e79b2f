/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens image files: by path, through an opener, or as a process has mapped them. */
#include "binary/elf/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char deleted_mark[] = " (deleted)";

/* Makes an image that owns `fd` and has no contents yet. Closes `fd` on failure. */
static struct elf_image *elf_open_image_of(int fd, const char *path, size_t path_size, struct error *err)
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

/*
 * Returns whether a file is large only by its holes. Reading it, as for a checksum, would take time and memory that
 * whoever made it has not spent. File systems that compress, or do not count blocks, show real binaries far above this
 * ratio.
 */
static bool is_hollow(const struct stat *info)
{
	static const off_t least_bytes = (off_t)1 << 30;
	enum { LEAST_RATIO = 64, BLOCK_BYTES = 512 };

	return info->st_size > least_bytes && info->st_size / LEAST_RATIO / BLOCK_BYTES > info->st_blocks;
}

/* st_blocks counts units of 512 bytes, whatever the file system (stat(2)). */
static uint64_t bytes_on_disk(const struct stat *info)
{
	enum { BLOCK_BYTES = 512 };
	uint64_t size = (uint64_t)info->st_size, blocks = (uint64_t)info->st_blocks;

	return blocks < size / BLOCK_BYTES ? blocks * BLOCK_BYTES : size;
}

/*
 * Maps a file with a page of zeros behind it. Whoever may write to the file can overwrite the end of a string between
 * the look that found it and the use of the string, which then ends there at the latest.
 */
static bool map_before_zeros(struct elf_image *image, size_t size)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), whole = size + page_bytes - 1 - (size - 1) % page_bytes;
	void *room = mmap(NULL, whole + page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return false;
	/*
	 * The kernel puts breakpoints for other tools' probes (uprobes) into every private mapping of a file's code,
	 * also into ours; into a shared one it does not. Some file systems only have private ones.
	 */
	if (mmap(room, size, PROT_READ, MAP_SHARED | MAP_FIXED, image->fd, 0) == MAP_FAILED &&
		mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, image->fd, 0) == MAP_FAILED) {
		int reason = errno;

		munmap(room, whole + page_bytes);
		errno = reason;
		return false;
	}
	image->bytes = room;
	image->size = size;
	image->mapped_bytes = whole + page_bytes;
	return true;
}

static bool elf_open_map_file(struct elf_image *image, struct error *err)
{
	struct stat info;

	if (fstat(image->fd, &info) != 0)
		return error_set_errno(err, errno, "cannot look at %s", image->path);
	if (info.st_size == 0)
		return error_set(err, ERROR_FORMAT, "%s is empty", image->path);
	if (is_hollow(&info))
		return error_set(err, ERROR_FORMAT, "%s is a sparse file of %lld GB, which no binary is: not read",
			image->path, (long long)(info.st_size >> 30));
	if (!map_before_zeros(image, (size_t)info.st_size))
		return error_set_errno(err, errno, "cannot map %s", image->path);
	image->disk_bytes = bytes_on_disk(&info);
	image->identity = elf_file_identity_of(&info);
	return true;
}

static bool open_descriptor(int fd, const char *path, size_t path_size, struct elf_image **image, struct error *err)
{
	struct elf_image *made = elf_open_image_of(fd, path, path_size, err);

	if (!made)
		return false;
	if (!elf_open_map_file(made, err)) {
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

/* Opens what was found at a path. An empty file is not even opened: those of pseudo file systems have no size. */
static int open_found(int found, const char *path, struct error *err)
{
	struct stat info;

	if (fstat(found, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0) {
		error_set(err, ERROR_FORMAT, "%s is empty", path);
		return -1;
	}
	return file_open_found(found, path, err);
}

int elf_open_regular(const char *path, struct error *err)
{
	CLEANUP(cleanup_close) int found = open(path, O_PATH | O_CLOEXEC);

	if (found < 0) {
		error_set_errno(err, errno, "cannot open %s", path);
		return -1;
	}
	return open_found(found, path, err);
}

int elf_open_told(const char *path, struct error *err)
{
	CLEANUP(cleanup_close) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(cleanup_close) int found = -1;

	if (path[0] != '/') {
		error_set(err, ERROR_NOT_FOUND, "%s is not an absolute path", path);
		return -1;
	}
	if (root >= 0)
		found = in_root_open(root, path, true);
	if (found < 0) {
		error_set_errno(err, errno, "cannot open %s", path);
		return -1;
	}
	return open_found(found, path, err);
}

bool elf_image_open_descriptor(int fd, const char *path, struct elf_image **image, struct error *err)
{
	return open_descriptor(fd, path, strlen(path), image, err);
}

bool elf_image_open_path(const char *path, struct elf_image **image, struct error *err)
{
	int fd = elf_open_regular(path, err);

	return fd >= 0 && elf_image_open_descriptor(fd, path, image, err);
}

bool elf_image_open_for(const struct elf_opener *opener, enum elf_file_use use, const char *path,
	struct elf_image **image, struct error *err)
{
	int fd = opener ? opener->open(opener->context, use, path, err) : elf_open_regular(path, err);

	return fd >= 0 && elf_image_open_descriptor(fd, path, image, err);
}

static bool is_mapped_inode(int fd, const struct elf_mapping *mapping)
{
	struct stat info;

	/* The device is not compared, because overlayfs and btrfs report another one in maps than in stat(). */
	return mapping->inode == 0 || (fstat(fd, &info) == 0 && info.st_ino == mapping->inode);
}

static int open_mapped_inode(const char *path, const struct elf_mapping *mapping, struct error *err)
{
	int fd = elf_open_regular(path, err);

	if (fd < 0 || is_mapped_inode(fd, mapping))
		return fd;
	error_set(err, ERROR_NOT_FOUND, "%s is another file by now", path);
	close(fd);
	return -1;
}

/* Opens the program itself, which needs no privilege even if the file was deleted. -1 if the mapping is of another
 * file. */
static int open_program(const struct elf_mapping *mapping)
{
	struct error ignored;
	char name[64], target[PATH_MAX];
	ssize_t size;

	snprintf(name, sizeof(name), "/proc/%d/exe", mapping->pid);
	size = readlink(name, target, sizeof(target));
	if (size < 0 || (size_t)size != strlen(mapping->path) || memcmp(target, mapping->path, (size_t)size) != 0)
		return -1;
	return open_mapped_inode(name, mapping, &ignored);
}

/* Opens the file that the process holds, without using a name. */
static int open_held(const struct elf_mapping *mapping, struct error *err)
{
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, mapping->pid, mapping->start,
		mapping->end);
	fd = elf_open_regular(name, err);
	return fd >= 0 ? fd : open_program(mapping);
}

static int elf_open_named(const struct elf_mapping *mapping, const char *path, struct error *err)
{
	char name[PATH_MAX + 64];
	struct error ignored;
	int fd = -1;

	if (mapping->pid > 0) {
		snprintf(name, sizeof(name), "/proc/%d/root%s", mapping->pid, path);
		fd = open_mapped_inode(name, mapping, &ignored);
	}
	return fd >= 0 ? fd : open_mapped_inode(path, mapping, err);
}

bool elf_mapped_is_deleted(const char *path)
{
	size_t size = strlen(path), mark = sizeof(deleted_mark) - 1;

	return size > mark && strcmp(path + size - mark, deleted_mark) == 0;
}

size_t elf_mapped_path_size(const char *path)
{
	return strlen(path) - (elf_mapped_is_deleted(path) ? sizeof(deleted_mark) - 1 : 0);
}

int elf_open_mapping(const struct elf_mapping *mapping, struct error *err)
{
	bool deleted = elf_mapped_is_deleted(mapping->path);
	size_t size = elf_mapped_path_size(mapping->path);
	struct error why;
	int fd = -1;

	if (size == 0 || size >= PATH_MAX || mapping->path[0] != '/') {
		error_set(err, ERROR_NOT_FOUND, "no file is mapped at %" PRIx64, mapping->start);
		return -1;
	}
	error_set(&why, ERROR_NOT_FOUND, "no process has it open");
	if (mapping->pid > 0)
		fd = open_held(mapping, &why);
	/* If the file was deleted, another file may have its name now, even with the same inode number. */
	if (fd < 0 && !deleted)
		fd = elf_open_named(mapping, mapping->path, &why);
	if (fd < 0 && deleted) {
		error_set(err, why.code, "%.*s was deleted or replaced: %s%s", (int)size, mapping->path, why.message,
			why.code == ERROR_PERMISSION ? "; run as root to read it" : "");
	} else if (fd < 0) {
		*err = why;
		error_prefix(err, "pid %d", mapping->pid);
	}
	return fd;
}

bool elf_image_of_mapping(int fd, const struct elf_mapping *mapping, const struct stat *copied,
	struct elf_image **image, struct error *err)
{
	bool deleted = elf_mapped_is_deleted(mapping->path);
	size_t size = elf_mapped_path_size(mapping->path);

	if (!open_descriptor(fd, mapping->path, size, image, err))
		return false;
	(*image)->is_deleted = deleted;
	(*image)->is_copy = copied != NULL;
	if (copied) {
		(*image)->is_deleted = deleted || copied->st_nlink == 0;
		(*image)->identity = elf_file_identity_of(copied);
	}
	return true;
}

bool elf_image_open_memory(
	const void *bytes, size_t size, const char *name, struct elf_image **image, struct error *err)
{
	struct elf_image *made = elf_open_image_of(-1, name, strlen(name), err);

	if (!made)
		return false;
	made->bytes = malloc(size ? size : 1);
	if (!made->bytes) {
		elf_image_unref(made);
		return error_set_memory(err);
	}
	if (size)
		memcpy(made->bytes, bytes, size);
	made->size = made->disk_bytes = size;
	if (!elf_image_parse(made, err)) {
		error_prefix(err, "%s", name);
		elf_image_unref(made);
		return false;
	}
	*image = made;
	return true;
}
