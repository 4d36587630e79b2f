/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inlined over several levels, a loop in several ranges, a cold part, and a function that stays. */

static inline unsigned int mix(unsigned int value)
{
	value ^= value >> 15;
	value *= 0x2c1b3c6du;
	return value ^ (value >> 12);
}

static inline unsigned int mix_twice(unsigned int value)
{
	return mix(mix(value) + 1);
}

static __attribute__((noinline)) unsigned int sum(const unsigned int *values, size_t count)
{
	unsigned int total = 0;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_expect(values[i] == 12345, 0)) {
			fprintf(stderr, "unlikely: %zu\n", i);
			abort();
		}
		total += mix_twice(values[i]);
	}
	return total;
}

__attribute__((noinline)) int compare(const void *left, const void *right)
{
	unsigned int a = *(const unsigned int *)left, b = *(const unsigned int *)right;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	unsigned int values[64];

	memset(values, 0, sizeof(values));
	for (size_t i = 0; i < 64; i++)
		values[i] = mix((unsigned int)i + (unsigned int)argc);
	qsort(values, 64, sizeof(values[0]), compare);
	printf("%s %u\n", argv[0], sum(values, 64));
	return 0;
}
