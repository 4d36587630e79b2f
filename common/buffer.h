/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A growing sequence of bytes. Failure is sticky, as in a stream: after the first append that exceeds `max_bytes`, or
 * finds no memory where that does not end the process, the buffer keeps its contents and ignores further appends. The
 * writer checks buffer_ok() once, at the end. If `data` is not NULL, a NUL follows its `size` bytes. Not thread-safe.
 */
struct buffer {
	char *data; /* owned */
	size_t size;
	size_t capacity;
	size_t max_bytes;
	bool failed;
	bool over_limit;          /* `max_bytes` was exceeded; else memory ran out */
	struct buffer_sink *sink; /* borrowed: where buffer_pass_on() brings bytes; NULL: all stay in memory */
	size_t passed;            /* bytes that the sink has taken, which are no longer in `data` and `max_bytes` */
};

/* Takes the bytes of a buffer, piece by piece. False: it takes no more, which fails the buffer. */
struct buffer_sink {
	bool (*take)(struct buffer_sink *sink, const void *bytes, size_t size);
};

/* The value of an empty buffer, for one that is declared with it; buffer_init() is for a member. */
#define BUFFER_INIT(max)                                                                                               \
	{                                                                                                              \
		.max_bytes = (max)                                                                                     \
	}

void buffer_init(struct buffer *buffer, size_t max_bytes);
void buffer_deinit(struct buffer *buffer);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_append_string(struct buffer *buffer, const char *string);
void buffer_append_byte(struct buffer *buffer, uint8_t byte);
__attribute__((format(printf, 2, 3))) void buffer_printf(struct buffer *buffer, const char *format, ...);

/* Reserves `size` writable bytes at the end, which buffer_commit() adds to the size; NULL if the buffer has failed. */
void *buffer_reserve(struct buffer *buffer, size_t size);
void buffer_commit(struct buffer *buffer, size_t size);

/*
 * Hands what was appended so far to the sink, if there is one and the text is long: whoever writes a text of any length
 * calls it between two entries, where nothing before has to be changed any more.
 */
void buffer_pass_on(struct buffer *buffer);

/*
 * A little-endian base-128 number of at most 10 bytes, as in DWARF and protobuf. There must be room for it. zigzag
 * moves the sign to the lowest bit (protobuf sint64).
 */
void buffer_append_varint(struct buffer *buffer, uint64_t value);
void buffer_append_zigzag(struct buffer *buffer, int64_t value);

/* Checks all appends so far: ERROR_LIMIT, or ERROR_MEMORY where no memory does not end the process (memory.h). */
COMMON_MUST_CHECK
bool buffer_ok(const struct buffer *buffer, struct error *err);
