/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A program of known CPU shape, for tests that look at what a profiler says of it: workload_shape SECONDS
 *
 * main -> run_shares -> work_a -> leaf_a, work_b, work_c, whose own times are as 60 : 30 : 10. All of work_a's time is
 * leaf_a's. Each is a real frame: none is inlined, cloned, or called as a tail. Prints "ready" before it works.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "burn.h"

#define FRAME __attribute__((noipa))

/* What the loops leave behind, so that none of them is dead code. */
static volatile uint64_t sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

FRAME static uint64_t leaf_a(void)
{
	return BURN(60, 3);
}

FRAME static uint64_t work_a(void)
{
	return leaf_a() + 1;
}

FRAME static uint64_t work_b(void)
{
	return BURN(30, 5);
}

FRAME static uint64_t work_c(void)
{
	return BURN(10, 7);
}

FRAME static void run_shares(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		sink += work_a() + work_b() + work_c();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: workload_shape SECONDS\n");
		return 2;
	}
	puts("ready");
	fflush(stdout);
	run_shares(strtod(argv[1], NULL));
	return 0;
}
