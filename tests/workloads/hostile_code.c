/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hostile_fail(const char *what)
{
	perror(what);
	exit(1);
}

void hostile_lacks(const char *what)
{
	fprintf(stderr, "this machine lacks %s: %s\n", what, strerror(errno));
	exit(77);
}

/* push %rbp; mov %rsp,%rbp; mov $100000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
const uint8_t hostile_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
const size_t hostile_code_bytes = sizeof(hostile_code);
