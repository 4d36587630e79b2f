/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

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
 * As in_root_open(), following the last link, but only links of root: for who reads as root. Others could lead it by
 * theirs to what they may not read. EACCES at any other link.
 */
int in_root_open_by_root(int root, const char *path);
