/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/feed.h"
#include "sampler/perf_data/header.h"
#include "sampler/perf_data/skim.h"

#include <zstd.h>

enum { PERF_DATA_STREAM_NAME_BYTES = 24 };

/* A file that records come from. There is one, or the several of the directory that `perf record --threads` leaves. */
struct perf_data_stream {
	char name[PERF_DATA_STREAM_NAME_BYTES]; /* in the directory, for messages; "": it is the only one */
	bool is_at_end;
	struct perf_data_input input; /* its descriptor is owned where there is a name */
	uint64_t left;                /* bytes of its data that are still to be read */
	struct feed raw, inflated;
	ZSTD_DStream *zstd; /* owned; one stream over all compressed records; NULL until needed */
	struct perf_data_gap gap;
	uint64_t record_offset; /* of the record being read */
	uint64_t skip;          /* bytes still to pass over */
	/* Times, for a directory: of the newest record, of the newest when the last mark was passed, up to which all
	 * are known. */
	uint64_t newest_ns, marked_ns, complete_ns;
	uint64_t mark; /* `left` at the next one */
};

void perf_data_stream_init(struct perf_data_stream *stream, struct feed_pool *pool);
void perf_data_stream_deinit(struct perf_data_stream *stream);

/* Reads on, into the feed. `*got` is 0 at the end. */
COMMON_MUST_CHECK
bool perf_data_stream_read(struct perf_data_stream *stream, struct perf_data_skim *skim,
	const struct perf_data_events *events, size_t *got, struct error *err);

/*
 * After a read of a directory's file. A thread of perf's goes round its rings, each of which is in order: what is older
 * than a megabyte or two of the file is complete.
 */
void perf_data_stream_pass_marks(struct perf_data_stream *stream);

/* Whether it ended where a record ends. `is_sized`: all of `left` should have been there. */
COMMON_MUST_CHECK
bool perf_data_stream_check_end(struct perf_data_stream *stream, bool is_sized, struct error *err);
