/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"
#include "sampler/recording.h"
#include "sampler/verify/code_map.h"

/*
 * A second opinion on stacks (--verify): one in N is copied and unwound again by libunwind in a child process, a batch
 * at a time, while the recording goes on. What the library does with hostile bytes ends with that process; a stack on
 * which it crashes, or takes too long, is left out and counted. Copies are kept in memory until their batch is done.
 * verifier_create() fails with ERROR_UNSUPPORTED where libunwind is not installed.
 */
struct verifier;

/*
 * The place of an address: a mapping of the profile, or PROFILE_NONE if it lies in no known code; the address is then a
 * runtime address.
 */
struct verify_place {
	uint32_t mapping;
	uint64_t address;
};

enum { VERIFY_DIFFERENCE_FRAMES = 8 };
enum { VERIFY_OURS, VERIFY_REFERENCE, VERIFY_WALKS };

/* A stack that the reference has otherwise: the frames from a little before the first difference. */
struct verify_difference {
	enum profile_comparison comparison;
	bool has_frame_pointers;     /* they gave some of the reference's frames */
	size_t depths[VERIFY_WALKS]; /* frames of the whole stack */
	size_t first;                /* first frame shown, counted from the leaf, which is 0 */
	size_t counts[VERIFY_WALKS]; /* frames shown */
	struct verify_place frames[VERIFY_WALKS][VERIFY_DIFFERENCE_FRAMES];
};

struct compared_stacks {
	uint32_t *locations; /* owned: ids of the locations in the stacks */
	size_t location_count;
	struct verify_difference differences[PROFILE_MOST_DIFFERENCES];
	size_t difference_count;
};

void compared_stacks_destroy(struct compared_stacks *compared); /* NULL is allowed */

struct verifier_options {
	uint32_t every; /* one stack in so many is chosen; at least 1 */
	bool may_wait;  /* may wait for a batch to end; otherwise stacks without room are not compared */
	struct code_frame_pointers frame_pointers; /* asked as stacks are offered */
};

COMMON_MUST_CHECK
bool verifier_create(const struct verifier_options *options, struct verifier **verifier, struct error *err);
void verifier_destroy(struct verifier *verifier);

/*
 * Offers a walked stack for comparison. The process must be in the table, and both must live until verifier_finish().
 */
void verifier_offer(struct verifier *verifier, const struct process_table *table, const struct process *process,
	const struct unwind_job *job);

/*
 * Waits for unfinished batches, adds the counts to profile->verification, and hands over what needs names. `notices`
 * may be NULL.
 */
COMMON_MUST_CHECK
bool verifier_finish(struct verifier *verifier, struct profile *profile, struct compared_stacks **compared,
	struct buffer *notices, struct error *err);
