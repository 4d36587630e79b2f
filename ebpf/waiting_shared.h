/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ebpf/wait.h"

/* What the programs of waiting.bpf.c and the code that loads them agree on. Only these two include it. */

enum { WAITING_MOST_THREADS = 65536, WAITING_REGISTERS = 32, WAITING_MOST_CALLS = 512 };

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
	__u32 padding;
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

/* Of a ring: how many the program has written, and how many of these were read. In a cache line of its own. */
struct waiting_ring {
	__u64 written, taken, padding[6];
};
