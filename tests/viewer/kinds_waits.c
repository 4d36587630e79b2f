/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"

#include "maker.h"

static const int64_t ms_ns = MAKER_SAMPLE_NS;

/* On a CPU, in samples of a millisecond. */
static void add_cpu(struct maker *maker, const char *stack, int64_t ms, int64_t at_ms)
{
	uint32_t id = maker_stack_of(maker, stack);

	for (int64_t i = 0; i < ms; i++) {
		int64_t values[] = { 1, ms_ns, 0, 0, ms_ns };
		struct error err;

		maker_check(
			profile_add_sample(maker->profile, id, maker->thread, values, (at_ms + i) * ms_ns, &err), &err);
	}
}

/* One wait from `at_ms` on. Returns its stack. */
static uint32_t add_wait(
	struct maker *maker, const char *stack, enum profile_wait_class wait_class, int64_t ms, int64_t at_ms)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	struct error err;
	uint32_t id;

	maker_check(profile_add_wait_stack(maker->profile, maker_stack_of(maker, stack), wait_class, &id, &err), &err);
	profile_wait_fill(maker->profile, wait_class, ms * ms_ns, values);
	maker_check(profile_add_sample(maker->profile, id, maker->thread, values, at_ms * ms_ns, &err), &err);
	maker_check(profile_weigh_event(maker->profile, ms * ms_ns, &err), &err);
	return id;
}

#define SERVE "main;serve"
#define MUTEX ";pthread_mutex_lock!libc.so@s;futex_wait![kernel.kallsyms]@s"

/* Of two processes, whose locks have the same name. */
static void add_releases(struct maker *maker, uint32_t stack, int64_t ms)
{
	enum { PROCESSES = 2 };

	for (int32_t pid = 100; pid < 100 + PROCESSES; pid++) {
		struct profile_lock lock = { .pid = pid };
		struct profile_release release = { .stack = stack, .weight_ns = ms * ms_ns / PROCESSES };
		struct error err;

		maker_check(profile_intern(maker->profile, "cache_mutex", &lock.name, &err), &err);
		maker_check(profile_add_lock(maker->profile, &lock, &release.lock, &err), &err);
		release.releaser = maker_stack_of(maker, "main;evict;pthread_mutex_unlock!libc.so@s");
		maker_check(profile_add_release(maker->profile, &release, &err), &err);
	}
}

/*
 * A second and a half. The worker computes for 100 ms, waits for a lock for 600 ms, in head for 1,000 ms, then sleeps
 * three times for 100 ms, and runs what ended the wait for 5 ms (and waits for a CPU for `busy_ms`); another thread
 * waits for work all the time; a third one reads for 50 ms and is busy for 1.
 */
static struct profile *waits_profile(int side, int64_t busy_ms)
{
	struct maker maker = maker_create("./server", side ? "22" : "11");
	int64_t lock_ms = side ? 1000 : 600;
	struct error err;

	maker_check(profile_add_wait_values(maker.profile, &err), &err);
	maker_run(&maker, "worker", 1500);
	add_cpu(&maker, SERVE ";compute", 100, 0);
	add_releases(&maker, add_wait(&maker, SERVE ";get" MUTEX, PROFILE_WAIT_LOCK, lock_ms, 100), lock_ms);
	for (int i = 0; i < 3; i++)
		add_wait(&maker, SERVE ";nap;nanosleep!libc.so@s", PROFILE_WAIT_TIMER, 100, 1100 + i * 100);
	add_cpu(&maker, "main;evict", 5, 1450);
	if (busy_ms > 0)
		add_wait(&maker, SERVE ";compute", PROFILE_WAIT_RUN_QUEUE, busy_ms, 1400);
	maker_thread(&maker, "idler", 101);
	add_wait(&maker, "start_thread!libc.so@s;loop;epoll_wait!libc.so@s", PROFILE_WAIT_IDLE, 1500, 0);
	maker_thread(&maker, "reader", 102);
	add_wait(&maker, "start_thread!libc.so@s;load;read!libc.so@s", PROFILE_WAIT_IO, 50, 0);
	add_cpu(&maker, "start_thread!libc.so@s;load", 1, 50);
	maker.profile->quality.samples = 112;
	for (uint32_t i = 0; i < maker.profile->function_count; i++)
		if (profile_wait_class_of_function(maker.profile, i) != PROFILE_WAIT_NONE)
			maker.profile->functions[i].origin = PROFILE_ORIGIN_SYSTEM;
	return maker_finish(&maker);
}

struct profile *kinds_waits(int side)
{
	return waits_profile(side, 0);
}

struct profile *kinds_waits_busy(int side)
{
	return waits_profile(side, side ? 40 : 10);
}
