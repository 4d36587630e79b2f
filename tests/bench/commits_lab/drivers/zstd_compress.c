/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "zstd.h"

#include <stdlib.h>

enum { SIZE = 1 << 20 };

int main(void)
{
	char *text = malloc(SIZE), *small = malloc(2 * SIZE);
	unsigned state = 1;
	size_t all = 0;

	for (int i = 0; i < SIZE; i++) {
		state = state * 1103515245 + 12345;
		text[i] = i > 3000 && i % 512 > 24 ? text[i - 3000] : "etaoin shrdlu"[(state >> 16) % 13];
	}
	for (int i = 0; i < 200; i++)
		all += ZSTD_compress(small, 2 * SIZE, text, SIZE, 1);
	return all == 0;
}
