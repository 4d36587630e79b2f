/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/protobuf.h"

#include <string.h>

static const uint64_t high_bits = 0x8080808080808080;

static uint64_t wire_word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* The compiler's builtin would call a function, since not every processor has the instruction. */
static size_t count_low_bytes(uint64_t word)
{
	return (size_t)(((~word & high_bits) >> 7) * 0x0101010101010101 >> 56);
}

size_t protobuf_count_varints(const struct byte_reader *column)
{
	const uint8_t *pos = column->pos;
	size_t count = 0;

	for (; column->end - pos >= 8; pos += 8)
		count += count_low_bytes(wire_word_at(pos));
	for (; pos < column->end; pos++)
		count += *pos < 0x80;
	return count;
}

/* The number of equal bytes at the ends of both, at most `most`. */
static size_t equal_tail(const uint8_t *a_end, const uint8_t *b_end, size_t most)
{
	size_t size = 0;

	while (most - size >= 8) {
		uint64_t differing = wire_word_at(a_end - size - 8) ^ wire_word_at(b_end - size - 8);

		if (differing)
			return size + (size_t)__builtin_clzll(differing) / 8;
		size += 8;
	}
	while (size < most && a_end[-1 - (ptrdiff_t)size] == b_end[-1 - (ptrdiff_t)size])
		size++;
	return size;
}

/* Returns whether a varint begins `size` bytes before the end. */
static bool is_boundary(const struct byte_reader *column, size_t size)
{
	return size == byte_reader_left(column) || column->end[-1 - (ptrdiff_t)size] < 0x80;
}

size_t protobuf_shared_tail(const struct byte_reader *a, const struct byte_reader *b)
{
	size_t a_size = byte_reader_left(a), b_size = byte_reader_left(b);
	size_t size = equal_tail(a->end, b->end, a_size < b_size ? a_size : b_size);

	while (size > 0 && !(is_boundary(a, size) && is_boundary(b, size)))
		size--;
	return size;
}
