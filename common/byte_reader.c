/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/byte_reader.h"

void byte_reader_seek(struct byte_reader *r, size_t offset)
{
	if (r->failed || offset > (size_t)(r->end - r->start))
		r->failed = true;
	else
		r->pos = r->start + offset;
}

uint64_t byte_reader_uint(struct byte_reader *r, size_t size)
{
	const uint8_t *bytes;
	uint64_t value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		r->failed = true;
		return 0;
	}
	bytes = byte_reader_bytes(r, size);
	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

uint64_t byte_reader_long_uleb128(struct byte_reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		const uint8_t *byte = byte_reader_bytes(r, 1);

		if (!byte)
			return 0;
		/* The tenth byte has room for one bit. */
		if (shift == 63 && *byte > 1)
			break;
		value |= (uint64_t)(*byte & 0x7f) << shift;
		if (!(*byte & 0x80))
			return value;
	}
	r->failed = true;
	return 0;
}

int64_t byte_reader_sleb128(struct byte_reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		const uint8_t *byte = byte_reader_bytes(r, 1);

		if (!byte)
			return 0;
		/* The tenth byte holds only the sign: all zeros or all ones. */
		if (shift == 63 && *byte != 0 && *byte != 0x7f)
			break;
		value |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte & 0x80)
			continue;
		if (shift + 7 < 64 && (*byte & 0x40))
			value |= UINT64_MAX << (shift + 7);
		return (int64_t)value;
	}
	r->failed = true;
	return 0;
}

const char *byte_reader_string(struct byte_reader *r, size_t *size)
{
	const uint8_t *start = r->pos;
	const uint8_t *nul = r->failed ? NULL : memchr(start, 0, byte_reader_left(r));

	if (!nul) {
		r->failed = true;
		return NULL;
	}
	r->pos = nul + 1;
	if (size)
		*size = (size_t)(nul - start);
	return (const char *)start;
}

struct byte_reader byte_reader_split(struct byte_reader *r, size_t size)
{
	const uint8_t *bytes = byte_reader_bytes(r, size);

	if (!bytes)
		return (struct byte_reader){ .failed = true };
	return byte_reader_over(bytes, size);
}

void byte_reader_align(struct byte_reader *r, size_t alignment)
{
	size_t past = byte_reader_offset(r) & (alignment - 1);

	if (past)
		byte_reader_bytes(r, alignment - past);
}
