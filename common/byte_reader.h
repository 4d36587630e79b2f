/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Bounds-checked reading of foreign bytes (ELF, DWARF, perf records, pprof).
 *
 * Failure is sticky: the first read past the end, or the first malformed number, marks the reader as failed. From then
 * on every read returns 0 and moves nothing. So a parser reads a whole record and checks byte_reader_ok() once, before
 * it uses any of it.
 *
 * The bytes are borrowed and must outlive the reader. All offsets are in bytes from the start. Little-endian only. Not
 * thread-safe; a copy of the struct has a position of its own.
 */
struct byte_reader {
	const uint8_t *start;
	const uint8_t *pos;
	const uint8_t *end;
	bool failed;
};

static inline struct byte_reader byte_reader_over(const void *bytes, size_t size)
{
	static const uint8_t nothing[sizeof(uint64_t)];
	/* Never NULL, so that reading 0 bytes from an empty reader gives a pointer. */
	const uint8_t *start = bytes ? (const uint8_t *)bytes : nothing;

	return (struct byte_reader){ .start = start, .pos = start, .end = start + size };
}

static inline size_t byte_reader_left(const struct byte_reader *r)
{
	return (size_t)(r->end - r->pos);
}

static inline size_t byte_reader_offset(const struct byte_reader *r)
{
	return (size_t)(r->pos - r->start);
}

static inline bool byte_reader_ok(const struct byte_reader *r)
{
	return !r->failed;
}

/* Moves to `offset` from the start; fails if it is past the end. */
void byte_reader_seek(struct byte_reader *r, size_t offset);

/* The next `size` bytes, borrowed, or NULL if fewer are left. A size of 0 succeeds. */
static inline const uint8_t *byte_reader_bytes(struct byte_reader *r, size_t size)
{
	const uint8_t *bytes = r->pos;

	if (r->failed || size > byte_reader_left(r)) {
		r->failed = true;
		return NULL;
	}
	r->pos += size;
	return bytes;
}

static inline uint8_t byte_reader_u8(struct byte_reader *r)
{
	const uint8_t *byte = byte_reader_bytes(r, 1);

	return byte ? *byte : 0;
}

/* Copies `size` bytes; leaves `into` as it is if fewer are left. */
static inline void byte_reader_copy(struct byte_reader *r, void *into, size_t size)
{
	const uint8_t *bytes = byte_reader_bytes(r, size);

	if (bytes)
		memcpy(into, bytes, size);
}

static inline uint16_t byte_reader_u16(struct byte_reader *r)
{
	uint16_t value = 0;

	byte_reader_copy(r, &value, sizeof(value));
	return value;
}

static inline uint32_t byte_reader_u32(struct byte_reader *r)
{
	uint32_t value = 0;

	byte_reader_copy(r, &value, sizeof(value));
	return value;
}

static inline uint64_t byte_reader_u64(struct byte_reader *r)
{
	uint64_t value = 0;

	byte_reader_copy(r, &value, sizeof(value));
	return value;
}

/* An unsigned number of 1, 2, 4 or 8 bytes; any other size fails. */
uint64_t byte_reader_uint(struct byte_reader *r, size_t size);

/* ULEB128 and SLEB128 as in DWARF 5, 7.6. Fails on numbers that do not fit 64 bits; never reads more than 10 bytes. */
uint64_t byte_reader_long_uleb128(struct byte_reader *r);
static inline uint64_t byte_reader_uleb128(struct byte_reader *r)
{
	/* Most numbers have one byte. */
	if (!r->failed && r->pos < r->end && *r->pos < 0x80)
		return *r->pos++;
	return byte_reader_long_uleb128(r);
}

int64_t byte_reader_sleb128(struct byte_reader *r);

/* A number that buffer_append_zigzag() wrote. */
static inline int64_t byte_reader_zigzag(struct byte_reader *r)
{
	uint64_t value = byte_reader_uleb128(r);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/*
 * A NUL-terminated string, borrowed; `*size` is its size without the NUL (`size` may be NULL). NULL if there is no NUL.
 */
const char *byte_reader_string(struct byte_reader *r, size_t *size);

/* A reader over the next `size` bytes, which this reader skips; a failed reader if fewer are left. */
struct byte_reader byte_reader_split(struct byte_reader *r, size_t size);

static inline void byte_reader_skip(struct byte_reader *r, size_t size)
{
	byte_reader_bytes(r, size);
}

/* Skips to the next multiple of `alignment` (a power of two), counted from the start. */
void byte_reader_align(struct byte_reader *r, size_t alignment);
