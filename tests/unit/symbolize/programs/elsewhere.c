/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

/* Code of functions that is in another file: included, and as a generator of parsers writes it. */

static __attribute__((noinline)) unsigned int included(unsigned int count)
{
	unsigned int total = 1;

#include "elsewhere.inc"
	return total * 5;
}

__attribute__((noinline)) unsigned int generated(unsigned int value);

int main(int argc, char **argv)
{
	(void)argv;
	printf("%u\n", included((unsigned int)argc) + generated((unsigned int)argc));
	return 0;
}

__attribute__((noinline)) unsigned int generated(unsigned int value)
{
	value ^= value >> 7;
#line 1007 "grammar.y"
	value *= 0x2c1b3c6du;
	return value ^ (value >> 12);
}
