/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Files that are often given to kelvin but are not profiles that it reads. */

/* Returns whether the file starts like a known format that could else be taken for pprof or folded stacks. */
bool unsupported_is_marked(const void *bytes, size_t size);

/*
 * Returns what a file is that cannot be read, and what to do: "it is a zip archive; unpack it first: unzip". NULL: not
 * known.
 */
const char *unsupported_text(const void *bytes, size_t size);
