/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <sys/types.h>

/*
 * Removes a directory of our own with all that is in it, by descriptors alone: no link is followed, whatever is
 * exchanged in the meantime, and nothing on another file system is touched. An entry that cannot be removed, as on a
 * full disk, does not stop the others. `parent` is its directory, borrowed.
 */
COMMON_MUST_CHECK
bool remove_tree(int parent, const char *name, struct error *err);
