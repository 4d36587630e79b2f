/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"

#include "maker.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	DEEP = 2000,
	CALLERS = 200,
	CALLEES = 1000,
	THREADS = 10000,
	TIMELINE_DEPTH = 2000,
	TIMELINE_EVENTS = 5000,
	TIMELINE_THREADS = 200,
	CHART_DEPTH = 4500,
	HUGE_NODES = 1000000,
	HUGE_FUNCTIONS = 20000,
	HUGE_DEPTH = 60,
	HUGE_TRUNK = 5,
	HUGE_TRUNK_FUNCTIONS = 7,
};

static const enum profile_origin origins[] = { PROFILE_ORIGIN_USER, PROFILE_ORIGIN_LIBRARY, PROFILE_ORIGIN_SYSTEM,
	PROFILE_ORIGIN_USER };

static uint32_t location_of(struct maker *maker, const char *prefix, size_t number)
{
	char name[64];
	struct maker_frame frame = { name, "app", origins[number % 4] };

	snprintf(name, sizeof(name), "%s%zu", prefix, number);
	return maker_location(maker, &frame);
}

static uint32_t below(struct maker *maker, uint32_t parent, const char *prefix, size_t number)
{
	return maker_stack_at(maker, parent, location_of(maker, prefix, number));
}

/* The functions of a large page by their number, each with one location, which is made when it is first met. */
struct numbered {
	bool made[HUGE_FUNCTIONS];
	uint32_t location[HUGE_FUNCTIONS];
};

static struct numbered *numbered_create(void)
{
	struct numbered *numbered = calloc(1, sizeof(*numbered));

	if (!numbered)
		exit(EXIT_FAILURE);
	return numbered;
}

static uint32_t below_numbered(struct maker *maker, struct numbered *numbered, uint32_t parent, size_t number)
{
	if (!numbered->made[number]) {
		numbered->location[number] = location_of(maker, "function_", number);
		numbered->made[number] = true;
	}
	return maker_stack_at(maker, parent, numbered->location[number]);
}

struct profile *kinds_large_deep(int side)
{
	struct maker maker = maker_create("./deep", side ? "22" : "11");
	uint32_t stack = 0;

	maker_run(&maker, "deep", 1000);
	for (size_t i = 0; i < DEEP; i++) {
		struct maker_frame frame = { .module = "app", .origin = PROFILE_ORIGIN_USER };
		char name[32];

		snprintf(name, sizeof(name), "level_%zu", i + 1);
		frame.name = name;
		stack = maker_stack(&maker, stack, &frame);
	}
	maker_add(&maker, stack, side ? 1500 : 1000, -1);
	return maker_finish(&maker);
}

/* A stack deeper than a canvas can be high, and a thread that gets a tenth of a CPU. */
struct profile *kinds_large_deep_timeline(int side)
{
	struct maker maker = maker_create("./deep", side ? "22" : "11");
	uint32_t stack = 0;

	maker_run(&maker, "deep", 1000);
	for (size_t i = 0; i < CHART_DEPTH; i++)
		stack = below(&maker, stack, "level_", i + 1);
	maker_add(&maker, stack, 1000, 0);
	maker_thread(&maker, "shared", 101);
	stack = maker_stack_of(&maker, "main;step");
	for (int64_t i = 0; i < 100; i++)
		maker_add(&maker, stack, 1, 10 * i);
	return maker_finish(&maker);
}

struct profile *kinds_large_functions(int side)
{
	struct maker maker = maker_create("./functions", side ? "22" : "11");

	maker_run(&maker, "functions", 1000);
	for (size_t i = 0; i < CALLERS; i++) {
		uint32_t caller = below(&maker, 0, "caller_", i);

		for (size_t j = 0; j < CALLEES; j++)
			maker_add(&maker, below(&maker, caller, "callee_", i * CALLEES + j),
				1 + (int64_t)((i + j) % 7) + (side && j == 0), -1);
	}
	return maker_finish(&maker);
}

struct profile *kinds_large_threads(int side)
{
	struct maker maker = maker_create("./threads", side ? "22" : "11");
	uint32_t stack;

	maker_run(&maker, "main", THREADS);
	stack = maker_stack_of(&maker, "main;serve");
	maker_add(&maker, stack, 100, 0);
	for (int32_t i = 0; i < THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "pool-%05d", i);
		maker_thread(&maker, name, 1000 + i);
		maker_add(&maker, stack, 2, i);
	}
	return maker_finish(&maker);
}

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* A thread of the large timeline: the stack that it is in. */
struct climber {
	uint32_t thread;
	size_t depth;
	uint32_t path[TIMELINE_DEPTH + 1];
};

/* Goes up to 40 frames deeper, or now and then back; one frame in 40,000 is another than its thread's usual one. */
static uint32_t climb(struct maker *maker, struct numbered *numbered, struct climber *climber, uint64_t *seed)
{
	size_t depth = climber->depth, deeper = depth + next(seed) % 40;

	if (next(seed) % 50 == 0 || deeper > TIMELINE_DEPTH)
		deeper = depth = depth * (next(seed) % 100) / 100;
	for (; depth < deeper; depth++)
		climber->path[depth + 1] = below_numbered(
			maker, numbered, climber->path[depth], (depth + (next(seed) % 40000 == 0)) % HUGE_FUNCTIONS);
	climber->depth = depth;
	return climber->path[depth];
}

/* A million events of threads that climb up and down deep stacks. */
struct profile *kinds_large_timeline(int side)
{
	struct maker maker = maker_create("./timeline", side ? "22" : "11");
	struct climber *climbers = calloc(TIMELINE_THREADS, sizeof(*climbers));
	struct numbered *numbered = numbered_create();
	uint64_t seed = 11;

	if (!climbers)
		exit(EXIT_FAILURE);
	maker_run(&maker, "thread-0", TIMELINE_EVENTS);
	for (int32_t i = 0; i < TIMELINE_THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "thread-%d", i);
		if (i > 0)
			maker_thread(&maker, name, 1000 + i);
		climbers[i].thread = maker.thread;
	}
	for (int64_t at = 0; at < TIMELINE_EVENTS; at++) {
		for (int32_t i = 0; i < TIMELINE_THREADS; i++) {
			maker.thread = climbers[i].thread;
			maker_add(&maker, climb(&maker, numbered, &climbers[i], &seed), 1, at);
		}
	}
	free(numbered);
	free(climbers);
	return maker_finish(&maker);
}

/*
 * A walk through a tree: one frame deeper as often as not, else back up a way; the chosen frame gets samples. Few
 * functions near the root, so that some frames are wide.
 */
struct profile *kinds_large_huge(int side)
{
	struct maker maker = maker_create("./huge", side ? "22" : "11");
	struct numbered *numbered = numbered_create();
	uint64_t seed = 7;
	uint32_t path[HUGE_DEPTH + 1] = { 0 };
	size_t depth = 0;

	maker_run(&maker, "huge", 1000);
	for (size_t i = 0; maker.profile->stack_count < HUGE_NODES; i++) {
		bool one_sided = i % 4 == (side ? 1 : 2);
		uint32_t function, stack, ms;

		if (depth >= HUGE_DEPTH || (depth > 2 && next(&seed) % 5 < 2))
			depth -= 1 + next(&seed) % (depth - 1);
		function = next(&seed) % (depth < HUGE_TRUNK ? HUGE_TRUNK_FUNCTIONS : HUGE_FUNCTIONS);
		stack = below_numbered(&maker, numbered, path[depth], function);
		ms = 1 + next(&seed) % 20;
		maker_add(&maker, stack, one_sided ? 0 : ms, -1);
		path[++depth] = stack;
	}
	free(numbered);
	return maker_finish(&maker);
}
