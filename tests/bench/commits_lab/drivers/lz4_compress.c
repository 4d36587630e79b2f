/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lz4.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 20 };

int main(void)
{
	char *text = malloc(SIZE), *small = malloc(2 * SIZE), *back = malloc(SIZE);
	unsigned state = 1;

	for (int i = 0; i < SIZE; i++) {
		state = state * 1103515245 + 12345;
		text[i] = i > 3000 && i % 512 > 24 ? text[i - 3000] : "etaoin shrdlu"[(state >> 16) % 13];
	}
	for (int i = 0; i < 250; i++) {
		int size = LZ4_compress_default(text, small, SIZE, 2 * SIZE);

		LZ4_decompress_safe(small, back, size, SIZE);
	}
	return memcmp(text, back, SIZE) != 0;
}
