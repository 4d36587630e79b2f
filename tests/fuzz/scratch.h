/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Files for what is opened by its name: they lie in a directory of this process, which is removed when it ends.
 * Whatever fails aborts.
 */

/* The path of a file of that name in the directory. */
void scratch_path(const char *name, char path[PATH_MAX]);

/* Writes the file's new contents into the same inode. */
void scratch_write(const char *name, const void *bytes, size_t size);

/* Gives the file, which is there, another name too. */
void scratch_link(const char *name, const char *other);
