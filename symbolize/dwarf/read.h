/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <string.h>

/*
 * The bounded reader's operations as the walk needs them: the common case is inlined, other cases call the reader.
 * Entries are read by the million; a call for each byte takes a third of the time.
 */

static inline bool dwarf_read_has(const struct byte_reader *r, uint64_t size)
{
	return !r->failed && size <= byte_reader_left(r);
}

static inline void dwarf_read_skip(struct byte_reader *r, uint64_t size)
{
	if (dwarf_read_has(r, size))
		r->pos += size;
	else
		r->failed = true;
}

static inline uint8_t dwarf_read_u8(struct byte_reader *r)
{
	if (dwarf_read_has(r, 1))
		return *r->pos++;
	r->failed = true;
	return 0;
}

/* Nearly all numbers have one or two bytes. */
static inline uint64_t dwarf_read_uleb128(struct byte_reader *r)
{
	if (dwarf_read_has(r, 2)) {
		uint8_t first = r->pos[0], second = r->pos[1];

		if (first < 0x80) {
			r->pos++;
			return first;
		}
		if (second < 0x80) {
			r->pos += 2;
			return (uint64_t)(first & 0x7f) | (uint64_t)second << 7;
		}
	}
	return byte_reader_uleb128(r);
}

static inline int64_t dwarf_read_sleb128(struct byte_reader *r)
{
	if (dwarf_read_has(r, 1) && *r->pos < 0x80) {
		uint8_t byte = *r->pos++;

		return byte & 0x40 ? (int64_t)byte - 0x80 : byte;
	}
	return byte_reader_sleb128(r);
}

static inline void dwarf_read_skip_leb128(struct byte_reader *r)
{
	while (dwarf_read_u8(r) & 0x80)
		continue;
}

/* 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t dwarf_read_fixed(struct byte_reader *r, uint64_t size)
{
	uint32_t word;
	uint64_t value = 0;

	if (!dwarf_read_has(r, size)) {
		r->failed = true;
		return 0;
	}
	switch (size) {
	case 1:
		value = *r->pos;
		break;
	case 4:
		memcpy(&word, r->pos, sizeof(word));
		value = word;
		break;
	case 8:
		memcpy(&value, r->pos, sizeof(value));
		break;
	case 2:
	case 3:
		memcpy(&value, r->pos, size);
		break;
	default:
		r->failed = true;
		return 0;
	}
	r->pos += size;
	return value;
}
