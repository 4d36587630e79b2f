/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/feed.h"
#include "sampler/perf_data/header.h"

/*
 * Of a copied stack a walk reads the first kilobyte or two as a rule: only so much is read from a file, with what
 * stands in front of the stack and behind it. A record in the feed is then shorter than in the file, and whole in
 * itself. Where a walk does not come to the stack's end, the record is read again with all of it; where that happens
 * often, more is read at first.
 */
enum { PERF_DATA_SKIM_STEPS = 128 };

struct perf_data_skim {
	size_t kept_bytes;                       /* of a stack, at first */
	size_t before_bytes;                     /* the most that was met in front of a stack */
	uint32_t told;                           /* how many stacks are in `uses` */
	uint32_t uses[PERF_DATA_SKIM_STEPS + 1]; /* by how much of them was used, in steps; the last: all */
	uint8_t *whole;                          /* owned: a record with all of its stack; NULL until needed */
};

void perf_data_skim_init(struct perf_data_skim *skim);
void perf_data_skim_deinit(struct perf_data_skim *skim);

/* Where a file stands. */
struct perf_data_gap {
	size_t next_bytes;   /* to be read next; 0: as much as there is room for */
	size_t bytes;        /* left out of the record whose end is to be read; 0: nothing */
	uint64_t record;     /* where that record begins */
	size_t stack_offset; /* in that record: where the size of its stack stands */
};

/*
 * Before more is read. Where the feed ends within a sample that has enough of its stack already, the input moves on to
 * what stands behind the stack. `left`: bytes of the data from the input's offset on.
 */
void perf_data_skim_step(struct perf_data_skim *skim, struct perf_data_gap *gap, const struct perf_data_events *events,
	struct feed *feed, struct perf_data_input *input, uint64_t *left);

/* Now that the record's end was read. How many bytes were left out. */
size_t perf_data_skim_close(struct perf_data_gap *gap, uint8_t *record, size_t size);

/* What a walk has used of a stack, so that as much is read of the ones to come. */
void perf_data_skim_tell(struct perf_data_skim *skim, uint64_t stack_bytes);

/* All `size` bytes of a record, which stay valid until the next call. */
COMMON_MUST_CHECK
bool perf_data_skim_read_whole(struct perf_data_skim *skim, const struct perf_data_input *input, uint64_t offset,
	size_t size, const uint8_t **bytes, struct error *err);
