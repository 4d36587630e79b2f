/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdint.h>

/*
 * Reads the hexadecimal number at `*text`, which moves behind its digits. A sign or `0x` is not accepted. Without a
 * number, `*text` is unchanged.
 */
static inline uint64_t hex_take(const char **text, const char *end)
{
	enum { MOST_DIGITS = 16 };
	uint64_t value = 0;
	const char *pos = *text;

	for (; pos < end && pos - *text <= MOST_DIGITS; pos++) {
		unsigned int digit = (unsigned char)*pos;

		if (digit - '0' < 10)
			digit -= '0';
		else if ((digit | 0x20) - 'a' < 6)
			digit = (digit | 0x20) - 'a' + 10;
		else
			break;
		value = value << 4 | digit;
	}
	*text = pos;
	return value;
}
