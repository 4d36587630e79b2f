/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * ClickHouse's format RowBinary: values one after the other, without names, types or marks between rows. Numbers are
 * little-endian, strings and arrays begin with their size as a base-128 number, a map is an array of pairs, and a
 * tuple nothing but its members (https://clickhouse.com/docs/interfaces/formats/RowBinary).
 *
 * Writing: buffer_append_*() of common/buffer.h do the rest.
 */
void row_append_u8(struct buffer *row, uint8_t value);
void row_append_u16(struct buffer *row, uint16_t value);
void row_append_u32(struct buffer *row, uint32_t value);
void row_append_u64(struct buffer *row, uint64_t value);
void row_append_f32(struct buffer *row, float value);
void row_append_f64(struct buffer *row, double value);
void row_append_string(struct buffer *row, const char *string);
void row_append_bytes(struct buffer *row, const void *bytes, size_t size);
void row_append_count(struct buffer *row, size_t count);

/*
 * Reading an answer, which is foreign: each row of what is asked here begins with a byte ROW_MARK, which the text of an
 * exception in the middle of an answer does not. Failure is sticky, as in the byte_reader.
 */
enum { ROW_MARK = 0xa5, ROW_MAX_STRING_BYTES = 1 << 20, ROW_MAX_ITEMS = 1 << 20 };

/* Begins the next row; false at the end, and where there is none, which row_end() tells apart. */
bool row_next(struct byte_reader *answer);

/*
 * Fails unless the answer was read to its end. ERROR_SYSTEM with the server's words, where an exception follows the
 * rows, else ERROR_FORMAT.
 */
COMMON_MUST_CHECK
bool row_end(const struct byte_reader *answer, struct error *err);

uint8_t row_u8(struct byte_reader *answer);
uint16_t row_u16(struct byte_reader *answer);
uint32_t row_u32(struct byte_reader *answer);
uint64_t row_u64(struct byte_reader *answer);
float row_f32(struct byte_reader *answer);
/* Returns a number that is neither infinite nor NAN, nor above 1e300; else it fails. */
double row_f64(struct byte_reader *answer);
/* Returns the number of items of an array or a map, at most ROW_MAX_ITEMS. */
size_t row_count(struct byte_reader *answer);

/* A string within the answer; without a NUL in it, and at most ROW_MAX_STRING_BYTES long. */
struct row_string {
	const char *bytes;
	size_t size;
};
struct row_string row_string(struct byte_reader *answer);
/* Any bytes, of any size. */
struct row_string row_bytes(struct byte_reader *answer);

static inline bool row_string_is(struct row_string string, const char *text)
{
	return strlen(text) == string.size && memcmp(text, string.bytes, string.size) == 0;
}
