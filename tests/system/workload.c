/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with a known shape:
 *     workload [--parse N] [--threads N] [--idle N] [--churn] [--fork] [--exec PROGRAM] [--seconds S | --cpu S]
 * It spends N parts of its time in parse_input() and one in hash_output(), both called by serve(). --idle: threads that
 * only sleep, in front of the others; --churn: threads that live for a millisecond, one after the other. It ends after
 * S seconds, or, with
 * --cpu, once each of its threads has used S seconds of CPU time, however busy the machine is.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000, MAX_THREADS = 4096 };

struct shape {
	int parse;
	int threads, idle;
	double seconds;
	clockid_t clock;
	bool fork, churn;
	const char *exec;
};

static double now_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) uint64_t parse_input(uint64_t state, int rounds);
__attribute__((noinline)) uint64_t hash_output(uint64_t state, int rounds);
__attribute__((noinline)) void serve(const struct shape *shape);

uint64_t parse_input(uint64_t state, int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

uint64_t hash_output(uint64_t state, int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		state = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9u;
	return state;
}

void serve(const struct shape *shape)
{
	double end_s = now_s(shape->clock) + shape->seconds;
	volatile uint64_t state = 1;

	while (now_s(shape->clock) < end_s) {
		state = parse_input(state, ROUNDS * shape->parse);
		state = hash_output(state, ROUNDS);
	}
}

static void *run_thread(void *shape)
{
	char name[16];

	snprintf(name, sizeof(name), "worker");
	prctl(PR_SET_NAME, name);
	serve(shape);
	return NULL;
}

static void *run_idle(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void start_idle(const struct shape *shape)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 16);
	for (int i = 0; i < shape->idle; i++)
		if (pthread_create(&thread, &attributes, run_idle, NULL) != 0)
			exit(1);
	pthread_attr_destroy(&attributes);
}

static void run_churn(const struct shape *shape)
{
	struct shape one = *shape;
	double end_s = now_s(CLOCK_MONOTONIC) + shape->seconds;

	one.seconds = 0.001;
	while (now_s(CLOCK_MONOTONIC) < end_s) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run_thread, &one) != 0)
			exit(1);
		pthread_join(thread, NULL);
	}
}

static void run_threads(struct shape *shape)
{
	pthread_t threads[MAX_THREADS];

	for (int i = 0; i < shape->threads; i++)
		if (pthread_create(&threads[i], NULL, run_thread, shape) != 0)
			exit(1);
	for (int i = 0; i < shape->threads; i++)
		pthread_join(threads[i], NULL);
}

static void run_child(const struct shape *shape)
{
	pid_t pid = fork();

	if (pid == 0) {
		char seconds[32];

		snprintf(seconds, sizeof(seconds), "%g", shape->seconds);
		if (shape->exec)
			execl(shape->exec, shape->exec, shape->clock == CLOCK_MONOTONIC ? "--seconds" : "--cpu",
				seconds, (char *)NULL);
		else
			serve(shape);
		_exit(shape->exec ? 127 : 0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct shape shape = { .parse = 3, .seconds = 600, .clock = CLOCK_MONOTONIC };

	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--fork") == 0)
			shape.fork = true;
		else if (strcmp(argv[i], "--exec") == 0)
			shape.exec = value;
		else if (strcmp(argv[i], "--parse") == 0)
			shape.parse = atoi(value);
		else if (strcmp(argv[i], "--threads") == 0)
			shape.threads = atoi(value);
		else if (strcmp(argv[i], "--idle") == 0)
			shape.idle = atoi(value);
		else if (strcmp(argv[i], "--churn") == 0)
			shape.churn = true;
		else if (strcmp(argv[i], "--seconds") == 0)
			shape.seconds = atof(value);
		else if (strcmp(argv[i], "--cpu") == 0) {
			shape.seconds = atof(value);
			shape.clock = CLOCK_THREAD_CPUTIME_ID;
		}
	}
	if (shape.threads > MAX_THREADS)
		return 2;
	start_idle(&shape);
	if (shape.churn)
		run_churn(&shape);
	else if (shape.fork || shape.exec)
		run_child(&shape);
	else if (shape.threads > 0)
		run_threads(&shape);
	else
		serve(&shape);
	return 0;
}
