/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A program whose page faults are known, for tests of counters that are charged to stacks.
 *
 *   workload_faults THREADS ROUNDS PAGES
 *
 * Each thread (0: the first one alone) does so many rounds of
 *   touch_pages  faults once for each of PAGES pages
 *   only_work    faults never, and takes about as long
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define FRAME __attribute__((noipa))

enum { MAX_THREADS = 64, PAGES_OF_A_UNIT = 20 };

static unsigned int rounds, pages;
static volatile uint64_t sink;

FRAME static void touch_pages(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = pages * page_bytes;
	volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise((void *)memory, bytes, MADV_NOHUGEPAGE) != 0) {
		perror("workload_faults");
		exit(1);
	}
	for (size_t at = 0; at < bytes; at += page_bytes)
		memory[at] = 1;
	munmap((void *)memory, bytes);
	sink++;
}

FRAME static void only_work(void)
{
	sink += BURN(pages / PAGES_OF_A_UNIT, sink);
}

FRAME static void *work(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		touch_pages();
		only_work();
	}
	return unused;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc == 4 ? (unsigned int)atoi(argv[1]) : MAX_THREADS + 1;
	pthread_t ids[MAX_THREADS];

	if (threads > MAX_THREADS) {
		fprintf(stderr, "usage: workload_faults THREADS ROUNDS PAGES\n");
		return 2;
	}
	rounds = (unsigned int)atoi(argv[2]);
	pages = (unsigned int)atoi(argv[3]);
	if (threads == 0)
		work(NULL);
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, NULL) != 0)
			return 1;
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
