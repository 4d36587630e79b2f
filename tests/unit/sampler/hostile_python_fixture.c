/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile_python_fixture.h"

#include <string.h>

const struct python_image hostile_python_image = { .type = 8,
	.qualname = 128,
	.filename = 112,
	.first_line = 68,
	.line_table = 136,
	.argument_count = 52,
	.flags = 48,
	.unicode_state = 32,
	.unicode_length = 16,
	.unicode_ascii = 40,
	.unicode_compact = 56,
	.bytes_size = 16,
	.bytes_data = 32,
	.unicode_kind_bit = 2 };

static void put_word(uint8_t *bytes, size_t size, size_t at, uint64_t word)
{
	if (at + sizeof(word) <= size)
		memcpy(bytes + at, &word, sizeof(word));
}

/* Text of 4,000 characters or less, whose first ones tell where and when it was read, and a table of short entries. */
static void put_object(const struct hostile_python *hostile, uint64_t address, uint8_t *bytes, size_t size)
{
	memset(bytes, 0x81, size);
	put_word(bytes, size, 8, 4711);
	put_word(bytes, size, 16, 4000);
	put_word(bytes, size, 32, (1 | 8 | 16) << 2);
	put_word(bytes, size, 40, 0x3030303030303030 + (address >> 4 & 0x0707070707070707));
	put_word(bytes, size, 56, 0x3030303030303030 + (hostile->time & 0x0707070707070707));
	put_word(bytes, size, 112, address + (1 << 20));
	put_word(bytes, size, 128, address + (2 << 20));
	put_word(bytes, size, 136, address + (3 << 20) + (hostile->is_steady ? 0 : hostile->time * 16));
}

ssize_t hostile_python_read(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	struct hostile_python *hostile = context;
	uint8_t *bytes = into->iov_base;
	size_t size = 0;

	hostile->reads++;
	hostile->time = hostile->time * 1664525 + 1013904223;
	for (size_t i = 0; i < from_count; i++) {
		put_object(hostile, (uint64_t)(uintptr_t)from[i].iov_base, bytes + size, from[i].iov_len);
		size += from[i].iov_len;
	}
	return (ssize_t)size;
}
