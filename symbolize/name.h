/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Longer names are not demangled either. */
enum { NAME_MAX_BYTES = 1 << 16 };

/*
 * A copy of a name that a file told, in the arena. One of more than NAME_MAX_BYTES, which no compiler writes but a file
 * may hold, becomes one that is shorter and ends in "... [cut: 1048576 bytes, 6d1f9a02]", by which it stays another
 * than those that begin alike. NULL for want of memory.
 */
const char *name_copy(struct arena *arena, const char *name, size_t size);
