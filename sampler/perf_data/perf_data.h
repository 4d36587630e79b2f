/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/perf_data/header.h"
#include "sampler/perf_data/queue.h"
#include "sampler/perf_data/stream.h"

/*
 * A perf.data file on its way to a profile:
 *
 *	perf_data_input (-> skim) -> feed (-> zstd -> feed) -> queue by time -> record.c -> collector
 *
 * perf_data_records.c frames, perf_data.c orders, perf_data_samples.c makes of each record what the collector expects
 *from a ring.
 */

struct perf_data {
	struct perf_data_header header;
	struct feed_pool pool;
	struct perf_data_stream *streams; /* owned; the first is the file that was given, or a directory's `data` */
	size_t stream_count;
	struct perf_data_skim skim;
	struct record_queue queue;
	uint64_t newest_ns, complete_ns; /* time of the newest record; all up to there are known */

	bool is_collecting;
	struct collector collector;
	/* Of the samples that the collector holds, each at the same place as there. */
	struct queued_record held[UNWIND_TOGETHER];
	uint64_t registers[UNWIND_TOGETHER][MACHINE_MAX_REGISTERS];
	size_t held_count;
	uint32_t event;                                 /* whose samples are taken */
	const char *wanted;                             /* its name, borrowed; NULL: any */
	uint32_t verify_every;                          /* of struct sampler_recorded */
	const struct machine *machine;                  /* that it was recorded on; NULL: not known */
	uint8_t register_places[MACHINE_MAX_REGISTERS]; /* where the ring's registers stand among the file's; UINT8_MAX:
							   nowhere */
	uint64_t first_ns, last_ns, total_period;
	/* Two ways of telling the same loss: by ring, of all events together, and by event. */
	uint64_t lost_records, lost_samples, lost_of_others;
	bool is_lbr;

	bool kernel_is_known;
	struct recorded_kernel kernel;
	struct buffer *notices; /* borrowed; may be NULL */
};

/* All whole records that a stream's feed, its raw or its inflated one, has. */
COMMON_MUST_CHECK
bool perf_data_take_records(
	struct perf_data *data, struct perf_data_stream *stream, struct feed *feed, struct error *err);

/* A record of the kernel's, which waits for its turn. Takes its block over. */
COMMON_MUST_CHECK
bool perf_data_enqueue(struct perf_data *data, struct queued_record *record, struct error *err);

/* What was there when the round before ended is complete now: perf reads each ring once in a round. */
COMMON_MUST_CHECK
bool perf_data_end_round(struct perf_data *data, struct error *err);

/* Before the first record of the kernel's: chooses the event, sets the collector up. */
COMMON_MUST_CHECK
bool perf_data_begin(struct perf_data *data, struct error *err);

/* One record, in order of time; releases it, now or when the collector has done with it. */
COMMON_MUST_CHECK
bool perf_data_take(struct perf_data *data, const struct queued_record *record, struct error *err);

/* Releases what the collector no longer holds. */
void perf_data_release_held(struct perf_data *data);

/* The event with the most samples when the chosen one has none; PERF_DATA_NO_EVENT otherwise. */
uint32_t perf_data_other_event(const struct perf_data *data);

/* ERROR_EMPTY when there was no sample. */
COMMON_MUST_CHECK
bool perf_data_finish(struct perf_data *data, struct sampler_result *result, struct error *err);
