/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"

#include <linux/perf_event.h>

/* perf.data files by hand: records are appended one after the other, then a file, or a pipe's stream, is made of them.
 */

enum {
	PERF_TYPE_ATTR = 64,
	PERF_TYPE_TRACING_DATA = 66,
	PERF_TYPE_BUILD_ID = 67,
	PERF_TYPE_FINISHED_ROUND = 68,
	PERF_TYPE_AUXTRACE = 71,
	PERF_TYPE_FEATURE = 80,
	PERF_TYPE_COMPRESSED = 81,
	PERF_TYPE_COMPRESSED2 = 83,
};

enum {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_DIR_FORMAT = 24,
};

/* What most tests record: cpu-clock at 1000 Hz by frame pointers. */
struct perf_event_attr perf_bytes_attr(void);

void put_u32(struct buffer *out, uint32_t value);
void put_u64(struct buffer *out, uint64_t value);

/* A record around a body, and an id's trailer behind it for all but samples and perf's own when the attr wants one. */
void put_record(struct buffer *out, const struct perf_event_attr *attr, uint32_t type, uint16_t misc,
	const struct buffer *body, uint64_t time_ns, uint64_t id);

void put_comm(struct buffer *out, const struct perf_event_attr *attr, uint32_t pid, const char *name, uint64_t time_ns);
void put_mmap(struct buffer *out, const struct perf_event_attr *attr, uint32_t pid, uint64_t start, uint64_t size,
	const char *path, uint64_t time_ns);

struct perf_sample_bytes {
	uint32_t pid;
	uint64_t time_ns, ip, id;
	const uint64_t *chain;
	size_t chain_count;
	const uint64_t *branches; /* three words each */
	size_t branch_count;
	const uint64_t *registers; /* as the attr's mask has them, with the stack behind */
	size_t dump_bytes;
	const void *dump;    /* NULL: zeros */
	size_t copied_bytes; /* of it; 0: all */
	uint64_t period;     /* 0: a millisecond */
	const void *raw;     /* of a tracepoint or a program */
	uint32_t raw_bytes;
	const uint64_t *read; /* what PERF_SAMPLE_READ holds */
	size_t read_words;
};
void put_sample(struct buffer *out, const struct perf_event_attr *attr, const struct perf_sample_bytes *sample);
void put_round(struct buffer *out);

/* That a thread, whose process has the same id, leaves a CPU or runs again: for the attr of most tests. */
void put_switch(struct buffer *out, uint32_t tid, uint16_t misc, uint64_t time_ns);

/* What belongs to an event in a file. */
struct perf_event_bytes {
	struct perf_event_attr attr;
	uint64_t id;
};

struct perf_feature_bytes {
	uint32_t number;
	const struct buffer *body;
};

/* Header, events, `records`, features by rising number. */
void put_file(struct buffer *out, const struct perf_event_bytes *events, size_t event_count,
	const struct buffer *records, const struct perf_feature_bytes *features, size_t feature_count);

/* The same as a stream: the events are records. */
void put_pipe(
	struct buffer *out, const struct perf_event_bytes *events, size_t event_count, const struct buffer *records);

/* A feature's body: a text with its length. */
void put_text(struct buffer *out, const char *text);

/* What `perf record` of a short program would leave: two threads of time, a mapping, samples that are out of order. */
void put_example_records(struct buffer *out, const struct perf_event_attr *attr);
