/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/table_bytes.h"

void table_bytes_put(struct buffer *out, const uint8_t *bytes, size_t size)
{
	static const char magic[8] = "kelvfrm2";
	const uint64_t all = sizeof(magic) + sizeof(all) + size;

	buffer_append(out, magic, sizeof(magic));
	buffer_append(out, &all, sizeof(all));
	buffer_append(out, bytes, size);
}
