/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * Stacks, samples, and the timeline of events.
 *
 * Stacks are a trie that grows from the root frame towards the leaf: a stack is represented by its leaf's node. Node 0
 * is the empty stack. A parent's id is smaller than its children's.
 *
 *	uint32_t stack = 0, location;
 *
 *	for (size_t i = 0; i < depth; i++)          the outermost frame first
 *		if (!profile_add_location(profile, mapping, addresses[i], &location, err) ||
 *			!profile_add_stack(profile, stack, location, &stack, err))
 *			return false;
 *	if (!profile_add_sample(profile, stack, thread, (int64_t[]){ 1, period_ns }, time_ns, err))
 *		return false;
 *	...
 *	for (; stack; stack = profile->stacks[stack].parent)          the leaf first
 *		visit(&profile->locations[profile->stacks[stack].location]);
 */
struct profile_stack {
	uint32_t parent;
	uint32_t location;
};

/* All samples of one thread with one stack, added up. Its values are values[id * value_type_count ...]. */
struct profile_sample {
	uint32_t stack;
	uint32_t thread;
};

/*
 * One sampling event. Events of a run are in order of time. An event's values are the values of its sample divided by
 * that sample's count, unless it has a weight of its own: see event_weights. The struct is packed, since there are
 * millions.
 */
struct profile_event {
	int64_t time_ns; /* since the start of its run */
	uint32_t sample;
} __attribute__((packed, aligned(4)));

/*
 * Makes more stacks than these an ERROR_LIMIT from now on. A frame of a stack takes a byte or two of a foreign file and
 * 80 bytes in a report: a file must not take thousands of times its size.
 */
void profile_limit_stacks(struct profile *profile, size_t most);

/* Adds or finds the stack of `parent` and one frame more towards the leaf. */
COMMON_MUST_CHECK
bool profile_add_stack(struct profile *profile, uint32_t parent, uint32_t location, uint32_t *id, struct error *err);

/*
 * Adds one sample's values (value_type_count of them, the first is its count) to those of (stack, thread). time_ns:
 * since the start of the thread's run, recorded as an event; negative if not known (has_timeline is then cleared).
 * Events may arrive up to a second out of order; profile_finish() sorts them.
 */
COMMON_MUST_CHECK
bool profile_add_sample(struct profile *profile, uint32_t stack, uint32_t thread, const int64_t *values,
	int64_t time_ns, struct error *err);

/*
 * Does what profile_add_sample() does in three steps, so that the memory accesses of several samples overlap: first
 * each sample is expected, then each is found, then each is counted.
 */
void profile_expect_sample(const struct profile *profile, uint32_t stack, uint32_t thread);
COMMON_MUST_CHECK
bool profile_find_sample(struct profile *profile, uint32_t stack, uint32_t thread, uint32_t *sample, struct error *err);
COMMON_MUST_CHECK
bool profile_count_sample(
	struct profile *profile, uint32_t sample, const int64_t *values, int64_t time_ns, struct error *err);

/* Gives the event that was added last a weight above 0. */
COMMON_MUST_CHECK
bool profile_weigh_event(struct profile *profile, int64_t weight, struct error *err);
