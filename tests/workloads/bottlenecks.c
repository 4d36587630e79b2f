/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that are held up by one thing each, `bound_by_THING`, whatever the processor is: what they need is larger
 * than one cache and smaller than another by far.
 *
 *	workload_bottlenecks [THING...]   runs each as often as it is named; all of them once if none is
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE_BYTES = 64 };
/* Beyond a first-level cache of up to 64 KiB, and within a last one of 2 MiB or more. */
enum { ARRAY_BYTES = 1 << 20, PASSES = 40 };
/* Beyond any last-level cache. */
enum { CHAIN_LINES = 1 << 20, STEPS = 200000 };
enum { ROUNDS = 3000000, CALLS = 200, ZEROES_BYTES = 1 << 20 };

#define BOUND __attribute__((noinline, noipa)) static uint64_t

/* A line of memory that leads to the next one. */
struct link {
	uint64_t next;
	char rest[LINE_BYTES - sizeof(uint64_t)];
};

static struct link *chain;
static uint8_t *array, *zeroes;
static int zero_file;

BOUND bound_by_instruction(void)
{
	uint64_t state = 88172645463325252;

	for (int i = 0; i < ROUNDS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
	}
	return state;
}

BOUND bound_by_cache(void)
{
	uint64_t sum = 0;

	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < ARRAY_BYTES; i += LINE_BYTES)
			sum += ((volatile uint8_t *)array)[i];
	return sum;
}

/* Each address is known only when the one before has come from memory. */
BOUND bound_by_memory(void)
{
	uint64_t at = 0;

	for (int i = 0; i < STEPS; i++)
		at = ((volatile struct link *)chain)[at].next;
	return at;
}

/* The instruction that enters the kernel is this function's own, where it can be. */
BOUND bound_by_system(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CALLS; i++) {
		long got;
#ifdef __x86_64__
		__asm__ volatile("syscall"
				 : "=a"(got)
				 : "a"((long)SYS_read), "D"((long)zero_file), "S"(zeroes), "d"((long)ZEROES_BYTES)
				 : "rcx", "r11", "memory");
#else
		got = syscall(SYS_read, zero_file, zeroes, ZEROES_BYTES);
#endif
		sum += (uint64_t)got;
	}
	return sum;
}

/* Makes one cycle of all lines, in an order that no prefetcher knows (Sattolo). */
__attribute__((noinline)) static void make_chain(void)
{
	uint64_t state = 1;

	for (uint64_t i = 0; i < CHAIN_LINES; i++)
		chain[i].next = i;
	for (uint64_t i = CHAIN_LINES - 1; i > 0; i--) {
		uint64_t other, kept = chain[i].next;

		state = state * 6364136223846793005 + 1442695040888963407;
		other = (state >> 33) % i;
		chain[i].next = chain[other].next;
		chain[other].next = kept;
	}
}

static FILE *prepare(void)
{
	FILE *file = fopen("/dev/zero", "r");

	array = calloc(1, ARRAY_BYTES);
	zeroes = malloc(ZEROES_BYTES);
	chain = aligned_alloc(LINE_BYTES, sizeof(*chain) * CHAIN_LINES);
	if (!file || !array || !zeroes || !chain) {
		perror("bottlenecks");
		exit(EXIT_FAILURE);
	}
	zero_file = fileno(file);
	memset(array, 1, ARRAY_BYTES);
	return file;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*run)(void);
	} things[] = { { "instruction", bound_by_instruction }, { "cache", bound_by_cache },
		{ "memory", bound_by_memory }, { "system", bound_by_system } };
	FILE *file = prepare();
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		int times = argc == 1;

		for (int k = 1; k < argc; k++)
			times += strcmp(argv[k], things[i].name) == 0;
		if (times && things[i].run == bound_by_memory)
			make_chain();
		for (int k = 0; k < times; k++)
			sum += things[i].run();
	}
	printf("%llu\n", (unsigned long long)sum);
	fclose(file);
	free(array);
	free(zeroes);
	free(chain);
	return 0;
}
