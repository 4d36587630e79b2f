/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/feed.h"
#include "sampler/perf_data/header.h"
#include "sampler/perf_data/skim.h"

#include <zstd.h>

enum { PERF_DATA_STREAM_NAME_BYTES = 24 };

/* A file with records: a single one, or one of the directory that `perf record --threads` writes. */
struct perf_data_stream {
	char name[PERF_DATA_STREAM_NAME_BYTES]; /* name in the directory, for messages; "": the only file */
	bool is_at_end;
	struct record_input input; /* its descriptor is owned if there is a name */
	uint64_t left;             /* bytes of its data not read yet */
	struct feed raw, inflated;
	ZSTD_DStream *zstd; /* owned; one stream over all compressed records; NULL until needed */
	struct perf_data_gap gap;
	uint64_t record_offset; /* of the record being read */
	uint64_t skip;          /* bytes to skip */
	/*
	 * Times, for a directory: of the newest record, of the newest record at the last mark, and up to which all
	 * records are known.
	 */
	uint64_t newest_ns, marked_ns, complete_ns;
	uint64_t mark; /* value of `left` at the next mark */
};

void perf_data_stream_init(struct perf_data_stream *stream, struct feed_pool *pool);
void perf_data_stream_deinit(struct perf_data_stream *stream);

/* Reads more bytes into the feed. `*got` is 0 at the end. */
COMMON_MUST_CHECK
bool perf_data_stream_read(struct perf_data_stream *stream, struct perf_data_skim *skim,
	const struct perf_data_events *events, size_t *got, struct error *err);

/*
 * Called after a read of a directory's file. One thread of perf reads its rings in turn, and each ring is in order:
 * records older than the last megabyte or two of the file are complete.
 */
void perf_data_stream_pass_marks(struct perf_data_stream *stream);

/* Checks that the file ended at the end of a record. `is_sized`: all of `left` should be present. */
COMMON_MUST_CHECK
bool perf_data_stream_check_end(struct perf_data_stream *stream, bool is_sized, struct error *err);
