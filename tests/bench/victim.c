/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A target that knows what it loses: bench_victim clock|threads [SECONDS]
 *
 *   clock    two threads look at the clock all the time. Between two looks lie some tens of nanoseconds, unless the
 * thread was interrupted or had to give way: such a gap is lost. Another program on the machine does not change what is
 * found as long as the runs that are compared have the same one. threads  creates threads that end at once, and joins
 * them, in one thread a CPU
 *
 * At every SIGUSR1 it prints "AT LOST COUNT": the clock and, since the start, the nanoseconds lost and the looks or
 * threads.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, LOST_ABOVE_NS = 1000 };

struct victim {
	pthread_t thread;
	volatile uint64_t lost_ns, count;
	char apart[64];
};

static struct victim victims[THREADS];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *look_at_clock(void *context)
{
	struct victim *victim = context;
	uint64_t before = now_ns();

	for (;;) {
		uint64_t now = now_ns();

		if (now - before > LOST_ABOVE_NS)
			victim->lost_ns += now - before;
		victim->count++;
		before = now;
	}
	return NULL;
}

static void *end_at_once(void *context)
{
	return context;
}

static void *create_threads(void *context)
{
	struct victim *victim = context;
	pthread_t created;

	for (;;) {
		if (pthread_create(&created, NULL, end_at_once, NULL) != 0)
			continue;
		pthread_join(created, NULL);
		victim->count++;
	}
	return NULL;
}

static void print_sums(void)
{
	uint64_t lost_ns = 0, count = 0;

	for (int i = 0; i < THREADS; i++) {
		lost_ns += victims[i].lost_ns;
		count += victims[i].count;
	}
	printf("%llu %llu %llu\n", (unsigned long long)now_ns(), (unsigned long long)lost_ns,
		(unsigned long long)count);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int number;
	sigset_t asked;
	void *(*run)(void *) = argc > 1 && strcmp(argv[1], "threads") == 0 ? create_threads : look_at_clock;

	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	/* All threads inherit it. */
	pthread_sigmask(SIG_BLOCK, &asked, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&victims[i].thread, NULL, run, &victims[i]);
	alarm(argc > 2 ? (unsigned int)atoi(argv[2]) : 600);
	while (sigwait(&asked, &number) == 0)
		print_sums();
	return 0;
}
