/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "expat.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 20, PIECE = 1 << 10 };

int main(void)
{
	char *text = malloc(SIZE);

	memset(text, 'a', SIZE);
	memcpy(text, "<r><!--", 7);
	memcpy(text + SIZE - 7, "--></r>", 7);
	for (int i = 0; i < 3; i++) {
		XML_Parser parser = XML_ParserCreate(NULL);

		for (int at = 0; at < SIZE; at += PIECE)
			XML_Parse(parser, text + at, PIECE, at + PIECE >= SIZE);
		XML_ParserFree(parser);
	}
	return 0;
}
