/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

/* The same functions at other places (MOVED), and with one of them changed (CHANGED). */

static volatile unsigned int state = 1;

#ifdef MOVED
unsigned int table[1000] = { 1 };

__attribute__((noinline)) unsigned int neighbour(unsigned int count)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum = sum * 33 + table[i % 1000] + state;
	return sum;
}
#endif

__attribute__((noinline)) unsigned int same(unsigned int count)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < count; i++) {
		sum += state * i;
		if (sum % 7 == 3)
			printf("%u\n", sum);
	}
	return sum;
}

static inline unsigned int part(unsigned int value)
{
#ifdef CHANGED
	return value * 5 + state;
#else
	return value * 9 + state;
#endif
}

__attribute__((noinline)) unsigned int changed(unsigned int count)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += part(i);
	return sum;
}

__attribute__((noinline)) unsigned int calls(unsigned int count)
{
	return same(count) + 3 * changed(count + 1);
}

typedef int vector __attribute__((vector_size(16)));

/* A constant in memory, by an instruction with a prefix. */
__attribute__((noinline)) vector mixed(vector value)
{
	return value ^ (vector) { 1, 2, 3, 5 };
}

int main(int argc, char **argv)
{
	unsigned int sum = calls((unsigned int)argc) + (unsigned int)mixed((vector){ argc })[1];

#ifdef MOVED
	sum += neighbour(sum % 10);
#endif
	printf("%s %u\n", argv[0], sum);
	return 0;
}
