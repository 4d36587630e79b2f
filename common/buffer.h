/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Growing bytes. Failure is sticky, as in a stream: after the first append that finds no memory or passes `max_bytes`,
 * the buffer holds what it held and ignores the rest; the writer checks buffer_ok() once, at the end. `data` is always
 * NUL-terminated behind `size` when it is not NULL. Not thread-safe.
 */
struct buffer {
	char *data; /* owned */
	size_t size;
	size_t capacity;
	size_t max_bytes;
	bool failed;
	bool over_limit; /* failed for `max_bytes`, not for want of memory */
};

void buffer_init(struct buffer *buffer, size_t max_bytes);
void buffer_deinit(struct buffer *buffer);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_append_string(struct buffer *buffer, const char *string);
void buffer_append_byte(struct buffer *buffer, uint8_t byte);
__attribute__((format(printf, 2, 3))) void buffer_printf(struct buffer *buffer, const char *format, ...);

/* `size` writable bytes at the end, to be counted with buffer_commit(); NULL once failed. */
void *buffer_reserve(struct buffer *buffer, size_t size);
void buffer_commit(struct buffer *buffer, size_t size);

/*
 * Little-endian base-128, as DWARF and protobuf write them, at most 10 bytes, for which there must be room; zigzag puts
 * the sign into the lowest bit (protobuf sint64).
 */
void buffer_append_varint(struct buffer *buffer, uint64_t value);
void buffer_append_zigzag(struct buffer *buffer, int64_t value);

/* Checks the whole writing at once: ERROR_MEMORY or ERROR_LIMIT. */
COMMON_MUST_CHECK
bool buffer_ok(const struct buffer *buffer, struct error *err);
