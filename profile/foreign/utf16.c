/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/utf16.h"

#include <string.h>

enum { UTF16_REPLACEMENT = 0xfffd };

bool utf16_is(const void *bytes, size_t size)
{
	return size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0);
}

static uint32_t utf16_unit(const uint8_t *bytes, bool is_big)
{
	return (uint32_t)bytes[!is_big] << 8 | bytes[is_big];
}

void utf16_append(const void *text, size_t size, struct buffer *out)
{
	const uint8_t *bytes = text;
	bool is_big = size > 0 && bytes[0] == 0xfe;

	for (size_t i = 2; i + 1 < size && !out->failed; i += 2) {
		uint32_t code = utf16_unit(bytes + i, is_big), low = 0;

		if (code >= 0xd800 && code < 0xdc00 && size - i >= 4)
			low = utf16_unit(bytes + i + 2, is_big);
		if (low >= 0xdc00 && low < 0xe000) {
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
			i += 2;
		}
		unicode_append(out, code == 0 || (code >= 0xd800 && code < 0xe000) ? UTF16_REPLACEMENT : code);
	}
	if (size % 2)
		unicode_append(out, UTF16_REPLACEMENT);
}
