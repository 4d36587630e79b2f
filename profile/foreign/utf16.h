/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Text in UTF-16, which PowerShell writes where other shells write what a program wrote. */

/* Returns whether a text begins with the byte order mark of UTF-16, of either order. */
bool utf16_is(const void *bytes, size_t size);

/*
 * Appends such a text as UTF-8, without its mark. Half of a character beyond 16 bits, a character of value 0, and a
 * byte that is left over become U+FFFD.
 */
void utf16_append(const void *bytes, size_t size, struct buffer *out);
