/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/trees.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void known_trees_deinit(struct known_trees *trees)
{
	for (size_t i = 0; i < KNOWN_TREES; i++)
		elf_root_unref(trees->items[i].root);
	*trees = (struct known_trees){ 0 };
}

/* The number of the mount that a root is on, which no file system is asked for; 0: not known (before Linux 5.8). */
static uint64_t mount_of_root(int fd)
{
	struct statx info;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &info) == 0 &&
			       (info.stx_mask & STATX_MNT_ID)
		       ? info.stx_mnt_id
		       : 0;
}

struct elf_root *known_trees_share(struct known_trees *trees, uint64_t tree, int fd)
{
	struct known_tree *kept = &trees->items[trees->next];
	uint64_t mount = mount_of_root(fd);
	struct elf_root *root;

	for (size_t i = 0; i < KNOWN_TREES; i++) {
		const struct known_tree *known = &trees->items[i];

		if (known->root && known->tree == tree && known->mount == mount) {
			close(fd);
			return known->root;
		}
	}
	root = elf_root_create(fd);
	if (!root)
		return NULL;
	elf_root_unref(kept->root);
	*kept = (struct known_tree){ tree, mount, root };
	trees->next = (trees->next + 1) % KNOWN_TREES;
	return root;
}
