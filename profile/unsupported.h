/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Files that are no profile, but are often given for one. */

/* By how it begins: what could pass for pprof or folded stacks else. */
bool unsupported_is_marked(const void *bytes, size_t size);

/* What a file that is not read is, and the next step: "it is a zip archive; unpack it first: unzip". NULL: not known.
 */
const char *unsupported_text(const void *bytes, size_t size);
