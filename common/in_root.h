/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds what stands at a path in a directory tree of another process (/proc/PID/root): links are followed within that
 * tree, and `..` does not lead out of it. As openat2(2) with RESOLVE_IN_ROOT, but by openat(2), whose flags a filter of
 * system calls can see.
 *
 * `root` is borrowed. Returns an owned O_PATH descriptor, or -1 with errno set. Without `follows_last` a link at the
 * end of the path is opened itself.
 */
int in_root_open(int root, const char *path, bool follows_last);

/*
 * Opens as in_root_open() does, following the last link, but only links of root: for who reads as root. Others could
 * lead it by theirs to what they may not read. EACCES at any other link.
 */
int in_root_open_by_root(int root, const char *path);

/*
 * Returns the directory tree that a process sees: a number of its mount namespace and of where its root is. Processes
 * with the same one see the same file at a path. 0: it is not known, or the process has ended.
 */
uint64_t in_root_tree_of(int32_t pid);
