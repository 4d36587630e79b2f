/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Longer names are not demangled either. */
enum { NAME_MAX_BYTES = 1 << 16 };

/*
 * Copies a name from a file into the arena. A name of more than NAME_MAX_BYTES, which no compiler writes but a file may
 * contain, is shortened and ends in "... [cut: 1048576 bytes, 6d1f9a02]", which distinguishes it from names with the
 * same beginning. NULL if memory runs out.
 */
const char *name_copy(struct arena *arena, const char *name, size_t size);
