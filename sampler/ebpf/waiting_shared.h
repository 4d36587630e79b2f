/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/wait.h"

/*
 * Definitions that the programs of waiting.bpf.c, the code that loads them and their test agree on. Nothing else
 * includes it.
 */

/* WAITING_PLACES is a power of 2. */
enum { WAITING_MOST_THREADS = 65536, WAITING_PLACES = 16384, WAITING_REGISTERS = 32, WAITING_MOST_CALLS = 512 };

enum waiting_time { WAITING_BLOCKED, WAITING_QUEUED, WAITING_TIMES };

/* A thread of the target, by its id in the initial pid namespace. */
struct waiting_thread {
	__u64 since;               /* when its wait began, or was charged last; 0: it runs */
	__u64 woken;               /* when it was let go on; 0: not yet */
	__u64 sums[WAITING_TIMES]; /* time that no sample stands for yet */
	__u64 interval;            /* in which the sums began anywhere */
	__u64 last[WAITING_TIMES]; /* of its last wait: how long */
	__u64 sequence, last_sequence;
	__u64 waits; /* how many have begun */
	__u32 process;
	__u32 state, last_state;
	__u32 payer; /* the place of the account that pays for the entry */
};

/* Threads whose ids differ by a multiple of WAITING_PLACES have one place. */
struct waiting_place {
	__u32 tid;    /* whose entry is here; 0: nobody's */
	__u32 others; /* how many of the other threads with this place have an entry in the table */
	struct waiting_thread thread;
};

struct waiting_counters {
	__u64 samples, deferred, lost, lost_ns, switches, threads_met, threads_ended, threads_unknown, switches_lost;
};

/* A thread of the target that gets a CPU, or leaves it. A CPU has a ring of them. */
struct waiting_switch {
	__u64 time_ns;
	__u32 tid;
	__u32 is_on;
};

/*
 * The counters of a ring: how many the program has written, and how many of these were read. In a cache line of its
 * own.
 */
struct waiting_ring {
	__u64 written, taken, padding[6];
};
