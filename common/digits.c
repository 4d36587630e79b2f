/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/digits.h"

#include <inttypes.h>
#include <stdio.h>

void digits_in_groups(uint64_t number, char text[static DIGITS_SIZE])
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (int i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			*text++ = ',';
		*text++ = digits[i];
	}
	*text = '\0';
}
