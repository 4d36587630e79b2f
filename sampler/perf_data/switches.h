/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/queue.h"

/*
 * The samples of threads that left their CPU, until a record says that they run again: only then is known how long each
 * waited. The records are copied, since most of a file lies between the two.
 */
struct switch_wait {
	struct queued_record
		record; /* its bytes are owned, and it has no block; NULL bytes: the thread does not wait */
	uint64_t begin_ns;
	int32_t tid;
	uint32_t state; /* as in struct ebpf_wait */
};

struct switches {
	struct hash_map by_tid;
	struct switch_wait *items; /* owned: one for each thread that ever waited */
	size_t count, capacity;
	size_t bytes;            /* of the copies */
	uint64_t ended, unended; /* waits of which a record tells the end, and of which none does */
	uint64_t dropped;        /* waits that found no room */
};

void switches_init(struct switches *switches);
void switches_deinit(struct switches *switches);

/* Keeps a sample of a thread that leaves its CPU. What it waited for before has then no end. */
COMMON_MUST_CHECK
bool switches_begin(struct switches *switches, int32_t tid, uint64_t begin_ns, uint32_t state,
	const struct queued_record *record, struct error *err);

/* The wait of a thread; NULL: it does not wait. Valid until the next beginning. */
struct switch_wait *switches_find(struct switches *switches, int32_t tid);

/* Hands a wait over: free(ended.record.bytes) when done. */
struct switch_wait switches_take(struct switches *switches, struct switch_wait *wait);
