/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Appends a table of resolved frames (symbolize/named_frames.h): its magic and size, which are right, then the bytes.
 */
void table_bytes_put(struct buffer *out, const uint8_t *bytes, size_t size);
