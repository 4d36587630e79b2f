/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/text_cursor.h"

const uint8_t text_hex_digits[256] = {
	['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ['A'] = 11, 12, 13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16
};
