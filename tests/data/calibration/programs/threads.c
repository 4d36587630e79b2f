/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four threads that take pieces of work from a queue and wait for each other: who does what differs from run to run. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, PIECES = 4000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int next, done;
static atomic_int ready;
static unsigned long sums[THREADS];

__attribute__((noinline)) static unsigned long mix(unsigned long x, int rounds)
{
	for (int i = 0; i < rounds; i++)
		x = (x ^ x >> 7) * 0x9e3779b97f4a7c15;
	return x;
}

__attribute__((noinline)) static int take(void)
{
	int piece;

	pthread_mutex_lock(&mutex);
	piece = next++;
	pthread_mutex_unlock(&mutex);
	return piece;
}

static void *run(void *argument)
{
	unsigned long *sum = argument;
	int piece;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
	while ((piece = take()) < PIECES)
		*sum += mix((unsigned long)piece, 1000 + piece % 512);
	pthread_mutex_lock(&mutex);
	done++;
	pthread_cond_broadcast(&finished);
	while (done < THREADS)
		pthread_cond_wait(&finished, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, &sums[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", sums[0] ^ sums[1] ^ sums[2] ^ sums[3]);
	return 0;
}
