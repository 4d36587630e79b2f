/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Targets that know how they wait:
 *
 *   bench_sleepers pingpong [SWITCHES]   two threads on one CPU that wake each other through a futex: as often as they
 *       can, or about SWITCHES times a second. At every SIGUSR1 it prints "AT CPU COUNT": the clock, the nanoseconds of
 *       CPU time that the process used, and the switches.
 *   bench_sleepers functions SECONDS     threads in which the same functions sleep, each for a time of its own. Prints
 *       "NAME MILLISECONDS" of each function at the end.
 *   bench_sleepers crowd SECONDS         2,000 threads that sleep. Prints "crowd MILLISECONDS" at the end.
 *   bench_sleepers pool HOLD             four workers for ever, who hold one lock for HOLD microseconds for each job
 *
 * What was waited is the clock's time without the thread's CPU time: waits for a CPU are in it.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CROWD = 2000, WORKERS = 8, MS = 1000000 };

static atomic_int is_over;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
	struct timespec left = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

/* Since the thread began, it was so long without a CPU, when `began_ns` is what this returned then. */
static int64_t waited_ns(int64_t began_ns)
{
	return clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

/* ---- Ping-pong ---- */

static _Atomic uint32_t ball; /* whose turn it is: 0 or 1 */
static _Atomic uint64_t switches;
static uint64_t wanted_per_s;

static void play(uint32_t me)
{
	while (atomic_load(&ball) != me)
		syscall(SYS_futex, &ball, FUTEX_WAIT_PRIVATE, 1 - me, NULL, NULL, 0);
	atomic_store(&ball, 1 - me);
	syscall(SYS_futex, &ball, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	atomic_fetch_add(&switches, 1);
}

static void *play_second(void *unused)
{
	for (;;)
		play(1);
	return unused;
}

static void *play_first(void *unused)
{
	enum { PARTS_OF_SECOND = 200 };

	for (int64_t next = clock_ns(CLOCK_MONOTONIC);;) {
		for (uint64_t i = 0; wanted_per_s == 0 || i < wanted_per_s / 2 / PARTS_OF_SECOND; i++)
			play(0);
		next += 1000000000 / PARTS_OF_SECOND;
		if (next > clock_ns(CLOCK_MONOTONIC))
			sleep_ns(next - clock_ns(CLOCK_MONOTONIC));
	}
	return unused;
}

static void play_for_ever(void)
{
	pthread_t threads[2];
	cpu_set_t one;
	sigset_t asked;
	int number;

	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &asked, NULL);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&threads[0], NULL, play_first, NULL);
	pthread_create(&threads[1], NULL, play_second, NULL);
	alarm(600);
	while (sigwait(&asked, &number) == 0) {
		printf("%lld %lld %llu\n", (long long)clock_ns(CLOCK_MONOTONIC),
			(long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID), (unsigned long long)atomic_load(&switches));
		fflush(stdout);
	}
}

/* ---- Functions with known waits ---- */

/* The call behind the sleep keeps the function on the stack while it sleeps. */
#define SLEEPER(microseconds)                                                                                          \
	static _Atomic int64_t waited_##microseconds;                                                                  \
	__attribute__((noinline, noipa)) static void sleep_##microseconds(void)                                        \
	{                                                                                                              \
		int64_t began_ns = waited_ns(0);                                                                       \
                                                                                                                       \
		sleep_ns((int64_t)(microseconds)*1000);                                                                \
		atomic_fetch_add(&waited_##microseconds, waited_ns(began_ns));                                         \
	}

SLEEPER(100)
SLEEPER(300)
SLEEPER(1000)
SLEEPER(3000)
SLEEPER(9000)
SLEEPER(27000)

#define SLEEPER_ENTRY(microseconds)                                                                                    \
	{                                                                                                              \
		"sleep_" #microseconds, sleep_##microseconds, &waited_##microseconds, microseconds                     \
	}

static const struct {
	const char *name;
	void (*sleep)(void);
	_Atomic int64_t *waited;
	int microseconds;
} sleepers[] = { SLEEPER_ENTRY(100), SLEEPER_ENTRY(300), SLEEPER_ENTRY(1000), SLEEPER_ENTRY(3000), SLEEPER_ENTRY(9000),
	SLEEPER_ENTRY(27000) };
enum { SLEEPERS = sizeof(sleepers) / sizeof(sleepers[0]), TURN_US = 27000 };

/* All functions get about the same time; a turn of theirs takes no whole number of intervals. */
static void *sleep_in_turn(void *unused)
{
	while (!is_over)
		for (int i = 0; i < SLEEPERS && !is_over; i++)
			for (int us = 0; us < TURN_US && !is_over; us += sleepers[i].microseconds)
				sleepers[i].sleep();
	return unused;
}

static void run_functions(double seconds)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, sleep_in_turn, NULL);
	sleep_ns((int64_t)(seconds * 1e9));
	is_over = 1;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLEEPERS; i++)
		printf("%s %.3f\n", sleepers[i].name, (double)*sleepers[i].waited / MS);
}

/* ---- A crowd ---- */

__attribute__((noinline, noipa)) static void wait_in_crowd(uint32_t *random)
{
	*random = *random * 1664525u + 1013904223u;
	sleep_ns((int64_t)(20 + *random / 65536 % 80) * MS);
}

static void *be_in_crowd(void *argument)
{
	static _Atomic uint32_t count;
	int64_t began_ns = waited_ns(0);
	uint32_t random = atomic_fetch_add(&count, 1);

	while (!is_over)
		wait_in_crowd(&random);
	*(int64_t *)argument = waited_ns(began_ns);
	return NULL;
}

static void run_crowd(double seconds)
{
	static pthread_t threads[CROWD];
	static int64_t waited[CROWD];
	int64_t sum = 0;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], &small, be_in_crowd, &waited[i]) != 0)
			abort();
	sleep_ns((int64_t)(seconds * 1e9));
	is_over = 1;
	for (int i = 0; i < CROWD; i++) {
		pthread_join(threads[i], NULL);
		sum += waited[i];
	}
	printf("crowd %.3f\n", (double)sum / MS);
}

/* ---- A pool ---- */

static int64_t hold_ns;

__attribute__((noinline, noipa)) static void update_index(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	sleep_ns(hold_ns);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline, noipa)) static void fetch_job(void)
{
	sleep_ns(MS);
}

__attribute__((noinline, noipa)) static void compute(void)
{
	for (int64_t end = clock_ns(CLOCK_MONOTONIC) + MS / 10; clock_ns(CLOCK_MONOTONIC) < end;)
		;
}

static void *work(void *unused)
{
	/* Sleeps are as long as they are asked for. */
	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		fetch_job();
		update_index();
		compute();
	}
	return unused;
}

static void run_pool(int hold_us)
{
	enum { POOL = 4 };
	pthread_t threads[POOL];

	hold_ns = (int64_t)hold_us * 1000;
	for (int i = 0; i < POOL; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_join(threads[0], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "pingpong") == 0) {
		wanted_per_s = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
		play_for_ever();
	} else if (strcmp(mode, "functions") == 0) {
		run_functions(argc > 2 ? atof(argv[2]) : 1);
	} else if (strcmp(mode, "crowd") == 0) {
		run_crowd(argc > 2 ? atof(argv[2]) : 1);
	} else if (strcmp(mode, "pool") == 0) {
		run_pool(argc > 2 ? atoi(argv[2]) : 100);
	} else {
		fprintf(stderr,
			"usage: bench_sleepers pingpong [SWITCHES] | functions SECONDS | crowd SECONDS | pool HOLD\n");
		return 2;
	}
	return 0;
}
