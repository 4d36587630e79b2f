/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/*
 * Directory trees other than ours, in which processes see their files (in_root_tree_of()): images of a tree share the
 * descriptor of its root. The kernel gives the number of a tree whose processes have ended to another one. That of a
 * mount stays its own, as long as the root is held open.
 */
struct known_tree {
	uint64_t tree, mount;
	struct elf_root *root; /* a reference; NULL: none */
};

enum { KNOWN_TREES = 64 };

struct known_trees {
	struct known_tree items[KNOWN_TREES];
	size_t next; /* that the next one takes the place of */
};

void known_trees_deinit(struct known_trees *trees);

/*
 * The root of a tree, borrowed: the one that was met before, or a new one of `fd`, which is taken over. NULL: memory
 * runs out.
 */
struct elf_root *known_trees_share(struct known_trees *trees, uint64_t tree, int fd);
