/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Directories that nobody but root and the user who runs Kelvin can lead elsewhere: TMPDIR, HOME and the like may be
 * another user's (sudo -E, su). Each directory of the path, and each link on the way, must belong to root or to this
 * user; others may not write to it, unless it is sticky, where nobody exchanges what is not theirs. The group is an
 * other, except root's and the one that has the number of the directory's owner, which is that user's own.
 */

/*
 * Opens such a directory (O_PATH), which is the caller's to close. `also`: a user who is trusted as root is, (uid_t)-1:
 * nobody. -1 on failure, with `err` set: ERROR_NOT_FOUND: it is not there; ERROR_PERMISSION: others can lead it
 * elsewhere; the message names the directory and its owner. A relative path is one that others chose.
 */
int own_directory_open(const char *path, uid_t also, struct error *err);

/* Returns whether it is such a directory and this user's, or is not there and would be made in one. */
bool own_directory_is_ours(const char *path);
