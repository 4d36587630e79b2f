/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/perf_data/deferred.h"
#include "sampler/perf_data/groups.h"
#include "sampler/perf_data/header.h"
#include "sampler/perf_data/queue.h"
#include "sampler/perf_data/stream.h"
#include "sampler/perf_data/waits.h"

/*
 * Reads a perf.data file into a profile. The bytes pass through: record_input (with skim), feed (zstd and a second
 * feed if compressed), queue by time, record.c, collector. records.c finds records and orders them; parse.c and
 * samples.c give the collector records in the form that a ring has.
 */

struct perf_data {
	struct perf_data_header header;
	struct feed_pool pool;
	struct perf_data_stream *streams; /* owned; the first is the given file, or a directory's `data` */
	size_t stream_count;
	struct perf_data_skim skim;
	struct record_queue queue;
	uint64_t newest_ns, complete_ns; /* time of the newest record; all records up to this time are known */

	struct collector *collector; /* owned; NULL: no record of the kernel was met yet */
	bool has_stack;              /* samples carry registers and stack */
	/* The samples that the collector holds, by the same index. */
	struct queued_record held[UNWIND_TOGETHER];
	uint64_t registers[UNWIND_TOGETHER][MACHINE_MAX_REGISTERS];
	size_t held_count;
	uint32_t event;               /* whose samples are read */
	const char *wanted;           /* its name, borrowed; NULL: any */
	enum perf_data_waits waits;   /* what its samples tell of them */
	struct perf_data_group group; /* that its samples have the totals of */
	struct switches switches;
	struct deferred deferred;
	uint32_t verify_every;                          /* of struct recording_file */
	const struct machine *machine;                  /* that the file was recorded on; NULL: not known */
	uint8_t register_places[MACHINE_MAX_REGISTERS]; /* index of each of the ring's registers among the file's;
							   UINT8_MAX: absent */
	uint64_t first_ns, last_ns, total_period;
	/* One loss may be reported in two ways: by ring, for all events together, and by event. */
	uint64_t lost_records, lost_samples, lost_of_others;
	bool is_lbr;

	bool kernel_is_known;
	struct recorded_kernel kernel;
	struct buffer *notices; /* borrowed; may be NULL */
};

/* Takes all whole records of a stream's feed, the raw or the decompressed one. */
COMMON_MUST_CHECK
bool perf_data_take_records(
	struct perf_data *data, struct perf_data_stream *stream, struct feed *feed, struct error *err);

/* Ends the reading of a stream that has no whole record at its current place, and says so. */
void perf_data_end_early(struct perf_data *data, struct perf_data_stream *stream);

/* Hands on the queued records up to a time. */
COMMON_MUST_CHECK
bool perf_data_deliver(struct perf_data *data, uint64_t limit_ns, struct error *err);

/* Called before the first record of the kernel: selects the event and creates the collector. */
COMMON_MUST_CHECK
bool perf_data_begin(struct perf_data *data, struct error *err);

/* Handles one record, in order of time; releases it, now or when the collector no longer needs it. */
COMMON_MUST_CHECK
bool perf_data_take(struct perf_data *data, const struct queued_record *record, struct error *err);

/* Parses a record, as its event and the reading of parts of stacks want it. */
COMMON_MUST_CHECK
bool perf_data_parse(
	struct perf_data *data, const struct queued_record *queued, struct record *record, struct error *err);

/* Returns whether the time of a record of a wait is none, but says that the sample stands at the end. */
bool perf_data_time_is_fake(uint64_t time_ns);

/* Gives the collector a sample, whose place among those that are held is taken. */
COMMON_MUST_CHECK
bool perf_data_take_sample(struct perf_data *data, struct record *record, struct error *err);

/* Releases what the collector no longer holds. */
void perf_data_release_held(struct perf_data *data);

/* The event with the most samples if the selected one has none; PERF_DATA_NO_EVENT otherwise. */
uint32_t perf_data_other_event(const struct perf_data *data);

/* Ends the reading. ERROR_EMPTY if there was no sample. */
COMMON_MUST_CHECK
bool perf_data_finish(struct perf_data *data, struct recording *result, struct error *err);
