/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Whole-buffer gzip (RFC 1952) through libdeflate. */

bool gzip_is(const void *bytes, size_t size);

/* Appends one member. */
COMMON_MUST_CHECK
bool gzip_compress(const void *bytes, size_t size, struct buffer *out, struct error *err);

/*
 * Appends the inflated contents of all members. More than out->max_bytes is ERROR_LIMIT, against decompression bombs.
 * Only zeros may follow the last member.
 */
COMMON_MUST_CHECK
bool gzip_decompress(const void *bytes, size_t size, struct buffer *out, struct error *err);
