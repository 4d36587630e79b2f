/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/wait_class.h"
#include "sampler/process/process.h"
#include "sampler/records/record.h"

/*
 * Turns samples of waits, whose stacks are walked, into samples of the profile: what a thread waited for, which lock it
 * was, and who let it go on.
 */
struct wait_counter;

/*
 * Creates a counter for a profile whose values are those of waits. It and the machine, which may be NULL, are borrowed.
 */
COMMON_MUST_CHECK
bool wait_counter_create(
	struct profile *profile, const struct machine *machine, struct wait_counter **waits, struct error *err);
void wait_counter_destroy(struct wait_counter *waits);

/* Reads what the kernel's program has written with a sample; false for one of the CPU. */
COMMON_MUST_CHECK
bool wait_counter_read(const struct record_sample *sample, struct ebpf_wait *wait);

/* A walked sample. */
struct wait_counter_sample {
	struct ebpf_wait wait;
	uint32_t stack, thread;            /* of the profile, of the thread that was sampled */
	int32_t pid;                       /* of its process, in our namespace */
	const struct process_space *space; /* of that process, as it was then; NULL: its locks get no names */
	int64_t end_ns;                    /* when it was taken, since the recording began */
};

/*
 * Counts a wait, with its weights. A release is no sample of its own: its stack is kept until the wait that it has
 * ended comes.
 */
COMMON_MUST_CHECK
bool wait_counter_add(struct wait_counter *waits, const struct wait_counter_sample *sample, struct error *err);

/* Hands over where the locks of the profile are, by their number. */
struct profile_lock_address *wait_counter_take_addresses(struct wait_counter *waits);
