/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A target with many libraries mapped: bench_libraries COUNT FILE... loads the first COUNT of the files that can be
 * loaded, prints "ready COUNT", and then works until it is killed. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 0, loaded = 0;
	volatile uint64_t state = 1;

	for (int i = 2; i < argc && loaded < wanted; i++)
		loaded += dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL) != NULL;
	printf("ready %d\n", loaded);
	fflush(stdout);
	for (;;)
		state = state * 6364136223846793005u + 1;
}
