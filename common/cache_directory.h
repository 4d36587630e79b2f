/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Directories below the user's own cache directory, one for each kind of thing that is kept there: "frames",
 * "histories". A file is written as a whole and renamed into place, so that several processes may read and write at
 * once; of two writers the later one wins.
 */

/*
 * Finds the path of a kind's directory: below XDG_CACHE_HOME, else HOME, else the home directory of the user. One that
 * is not the user's own (own_directory.h) is passed over. False if there is none.
 */
COMMON_MUST_CHECK
bool cache_directory_path(const char *kind, char *path, size_t size);

/* HOME, or the home directory of the user: the first that is the user's own; NULL: neither. Borrowed. */
const char *cache_directory_home(void);

/* Creates it. False if it is not the user's own, or not writable. */
bool cache_directory_prepare(const char *directory);

/* Removes the oldest files, whose names are hexadecimal, if there are too many, or they are too large together. */
void cache_directory_prune(const char *directory);

/* Opens a file in it, for reading, if it is the user's own; -1 if not. The descriptor is the caller's. */
int cache_directory_open(const char *directory, const char *name);
