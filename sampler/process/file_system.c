/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/file_system.h"

#include "common/common.h"
#include "sampler/process/account.h"

#include <linux/magic.h>
#include <sys/statfs.h>

bool file_system_may_hang(int fd, int32_t pid)
{
	/* From the kernel's sources, where <linux/magic.h> has none: ZFS, bcachefs, exFAT, NTFS3, JFS, aufs. */
	static const uint64_t local[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
		RAMFS_MAGIC, HUGETLBFS_MAGIC, F2FS_SUPER_MAGIC, SQUASHFS_MAGIC, EROFS_SUPER_MAGIC_V1,
		REISERFS_SUPER_MAGIC, NILFS_SUPER_MAGIC, ISOFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, UDF_SUPER_MAGIC,
		0x2fc12fc1, 0xca451a4e, 0x2011bab0, 0x7366746e, 0x3153464a, 0x61756673 };
	struct statfs info;
	uint64_t type;

	if (fstatfs(fd, &info) != 0)
		return true;
	type = (uint32_t)info.f_type;
	if (type == OVERLAYFS_SUPER_MAGIC)
		return !account_has_our_users(pid);
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (local[i] == type)
			return false;
	return true;
}

bool file_system_knows_owner(int fd)
{
	struct statfs info;

	return fstatfs(fd, &info) == 0 && (uint32_t)info.f_type != FUSE_SUPER_MAGIC &&
	       (uint32_t)info.f_type != OVERLAYFS_SUPER_MAGIC;
}
