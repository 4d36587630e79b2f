/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wait for one lock each, and a main thread that holds all locks half of the time, in hold_locks(). The
 * locks are in the program's initialized and zeroed data, within a larger object, in a function, in a library, and on
 * the heap.
 *
 *	workload_locks SECONDS
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { HOLD_NS = 2000000, PAUSE_NS = 100000, LOCKS = 6 };

/* Of the library: a mutex that has no name outside. */
pthread_mutex_t *library_lock(void);

struct registry {
	long entries[5];
	pthread_mutex_t mutex;
};

pthread_mutex_t cache_mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t zeroed_mutex;
struct registry registry;

static pthread_mutex_t *function_lock(void)
{
	static pthread_mutex_t own_mutex;

	return &own_mutex;
}

static void sleep_ns(long ns)
{
	struct timespec time = { 0, ns };

	nanosleep(&time, NULL);
}

__attribute__((noinline, noipa)) static void hold_locks(pthread_mutex_t *const *locks)
{
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_lock(locks[i]);
	sleep_ns(HOLD_NS);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_unlock(locks[i]);
	sleep_ns(HOLD_NS);
}

__attribute__((noinline, noipa)) static void wait_for(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	sleep_ns(PAUSE_NS);
}

__attribute__((noreturn)) static void *waiter(void *lock)
{
	for (;;)
		wait_for(lock);
}

int main(int argc, char **argv)
{
	struct registry *made = calloc(1, sizeof(*made));
	pthread_mutex_t *const locks[LOCKS] = { &cache_mutex, &zeroed_mutex, &registry.mutex, function_lock(),
		library_lock(), made ? &made->mutex : NULL };
	struct timespec now, end;
	pthread_t thread;

	if (!made)
		abort();
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
	for (int i = 0; i < LOCKS; i++)
		pthread_create(&thread, NULL, waiter, locks[i]);
	do {
		hold_locks(locks);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec < end.tv_nsec);
	return 0;
}
