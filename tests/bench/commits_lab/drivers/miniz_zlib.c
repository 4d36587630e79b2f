/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "miniz.h"

#include <stdlib.h>

enum { SIZE = 1 << 20 };

int main(void)
{
	unsigned char *text = malloc(SIZE), *small = malloc(SIZE * 2), *back = malloc(SIZE);
	unsigned state = 1;

	for (int i = 0; i < SIZE; i++) {
		state = state * 1103515245 + 12345;
		text[i] = i > 300 && i % 64 > 8 ? text[i - 300] : "etaoin shrdlu"[(state >> 16) % 13];
	}
	for (int i = 0; i < 25; i++) {
		mz_ulong size = SIZE * 2, all = SIZE;

		mz_compress2(small, &size, text, SIZE, 1);
		mz_uncompress(back, &all, small, size);
	}
	return 0;
}
