/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "zlib.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 22 };

int main(void)
{
	unsigned char *text = malloc(SIZE), *small = malloc(SIZE * 2);
	uLong crc = 0, state = 1;

	for (int i = 0; i < SIZE; i++) {
		state = state * 1103515245 + 12345;
		text[i] = "etaoin shrdlu"[(state >> 16) % 13];
	}
	for (int i = 0; i < 120; i++)
		crc = crc32(crc, text, SIZE);
	for (int i = 0; i < 4; i++) {
		uLongf size = SIZE * 2;

		compress2(small, &size, text, SIZE / 4, 1);
	}
	printf("%lx\n", crc);
	return 0;
}
