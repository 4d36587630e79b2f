/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/feed.h"

/* Records of several CPUs in order of time, and at equal times in the order of the file. A binary heap. */

struct perf_data_stream;

struct queued_record {
	uint64_t time_ns, sequence;
	const uint8_t *bytes; /* in the block */
	struct feed *feed;
	struct perf_data_stream *stream;
	struct feed_block *block;
	uint64_t offset; /* in the file, for messages */
	uint32_t event;
	uint16_t size, left_out; /* bytes present; bytes of the file's record that were skipped (skim.h) */
};

struct record_queue {
	struct queued_record *items; /* owned */
	size_t count, capacity;
	uint64_t next_sequence;
};

void record_queue_deinit(struct record_queue *queue); /* the records' blocks are released */

/* Adds a record, and sets its sequence. */
COMMON_MUST_CHECK
bool record_queue_add(struct record_queue *queue, const struct queued_record *record, struct error *err);

/* Removes the oldest record if it is not younger than the limit. The caller releases its block. */
bool record_queue_take(struct record_queue *queue, uint64_t limit_ns, struct queued_record *record);
