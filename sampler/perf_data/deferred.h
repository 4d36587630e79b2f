/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/records/record.h"

/*
 * Samples whose user stack is told later (`perf record --call-graph fp,defer`): the kernel walks it once, just before
 * the thread returns to user space, and writes it as a record of its own. Usually that comes behind all samples that
 * share it; some are taken on the way back, behind it.
 */

struct perf_data;
struct deferred_sample;

/* The state of a thread. */
struct deferred_thread {
	int32_t tid;
	uint64_t cookie;                       /* of the chain */
	uint64_t *chain;                       /* owned: its latest; NULL: none */
	size_t chain_count;                    /* of its words */
	struct deferred_sample *first, **last; /* owned: its samples that wait for a chain, in order of time */
};

struct deferred {
	struct hash_map by_tid;
	struct deferred_thread *items; /* owned */
	size_t count, capacity;
	size_t bytes;         /* of samples and chains */
	uint64_t lost;        /* samples whose chain did not come, or for which there was no room */
	struct buffer joined; /* scratch */
};

void deferred_init(struct deferred *deferred);
void deferred_deinit(struct deferred *deferred);

/* Takes a sample whose chain ends with a cookie: hands it to the collector, or keeps a copy until its chain comes. */
COMMON_MUST_CHECK
bool perf_data_deferred_take_sample(struct perf_data *data, struct record *record, uint64_t cookie, struct error *err);

/* Takes the chain, of kind RECORD_CALLCHAIN: hands those samples to the collector that wait for it. */
COMMON_MUST_CHECK
bool perf_data_deferred_take_chain(struct perf_data *data, const struct record *record, struct error *err);

/* Hands the samples whose chains did not come to the collector as they are. */
COMMON_MUST_CHECK
bool perf_data_deferred_finish(struct perf_data *data, struct error *err);
