/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/feed.h"
#include "sampler/perf_data/header.h"

/*
 * A walk usually reads the first kilobyte or two of a stack copy, so only this part is read from a file, with the bytes
 * before and after the stack. Such a record is shorter in the feed than in the file, but well-formed. If a walk does
 * not reach the stack's end, the record is read again as a whole; if that happens often, more is read at first.
 */
enum { PERF_DATA_SKIM_STEPS = 128 };

struct perf_data_skim {
	size_t kept_bytes;                       /* bytes of a stack read at first */
	size_t before_bytes;                     /* the most bytes found before a stack */
	uint32_t counted;                        /* number of stacks counted in `uses` */
	uint32_t uses[PERF_DATA_SKIM_STEPS + 1]; /* number of stacks by the used bytes, in steps; the last: all bytes */
	uint8_t *whole;                          /* owned: a record with its whole stack; NULL until needed */
};

void perf_data_skim_init(struct perf_data_skim *skim);
void perf_data_skim_deinit(struct perf_data_skim *skim);

/* The read position of a file. */
struct perf_data_gap {
	size_t next_bytes;   /* size of the next read; 0: all the room */
	size_t bytes;        /* skipped in the record whose end is read next; 0: none */
	uint64_t record;     /* offset of that record */
	size_t stack_offset; /* offset in that record of its stack's size */
};

/*
 * Called before each read. If the feed ends within a sample of whose stack enough was read, the input skips to the
 * bytes after the stack. `left`: bytes of the data from the input's offset on.
 */
void perf_data_skim_step(struct perf_data_skim *skim, struct perf_data_gap *gap, const struct perf_data_events *events,
	struct feed *feed, struct record_input *input, uint64_t *left);

/* Called when the record's end was read. Returns how many bytes were skipped. */
size_t perf_data_skim_close(struct perf_data_gap *gap, uint8_t *record, size_t size);

/* Records how much of a stack a walk used, which decides how much of later stacks is read. */
void perf_data_skim_describe(struct perf_data_skim *skim, uint64_t stack_bytes);

/* Reads all `size` bytes of a record; they stay valid until the next call. */
COMMON_MUST_CHECK
bool perf_data_skim_read_whole(struct perf_data_skim *skim, const struct record_input *input, uint64_t offset,
	size_t size, const uint8_t **bytes, struct error *err);
