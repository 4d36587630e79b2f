/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/file_owner.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* The kernel shows users by this number that the user namespace has none for. */
enum { OVERFLOW_USER = 65534 };

struct file_owner file_owner_of(int fd)
{
	struct file_owner owner = { 0 };
	struct statfs system;
	struct stat info;

	if (fstat(fd, &info) != 0)
		return owner;
	owner.device = info.st_dev;
	/* Groups of one user are usual; whom the groups of root have is not known. */
	if (fstatfs(fd, &system) != 0 || system.f_type == FUSE_SUPER_MAGIC || info.st_uid == OVERFLOW_USER ||
		(info.st_mode & (S_IWOTH | (info.st_uid == 0 ? S_IWGRP : 0))))
		return owner;
	return (struct file_owner){ .is_known = true, .user = info.st_uid };
}

/* A process may replace its vdso by code of its own. The call reads memory that may end before `size`. */
static bool is_own_vdso(const uint8_t *bytes, size_t size)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	uint8_t *own = vdso ? malloc(size + 1) : NULL;
	struct iovec into = { own, size }, from = { (void *)(uintptr_t)vdso, size };
	bool is_own = own && process_vm_readv(getpid(), &into, 1, &from, 1, 0) == (ssize_t)size &&
		      memcmp(own, bytes, size) == 0;

	free(own);
	return is_own;
}

struct file_owner file_owner_of_image(const struct elf_image *image)
{
	const uint8_t *bytes;
	size_t size;

	if (elf_image_descriptor(image) >= 0)
		return file_owner_of(elf_image_descriptor(image));
	bytes = elf_image_bytes(image, &size);
	return (struct file_owner){ .is_known = is_own_vdso(bytes, size) };
}

bool file_owner_is_same(const struct file_owner *left, const struct file_owner *right)
{
	if (left->is_known != right->is_known)
		return false;
	return left->is_known ? left->user == right->user : left->device == right->device;
}

bool file_owner_is_root(const struct file_owner *owner)
{
	return owner->is_known && owner->user == 0;
}
