/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * What the mutators of formats share. A mutator takes an input apart, changes one part, and puts it together again with
 * sizes and offsets that are right, so that the change gets to the code behind the checks of the whole. The same seed
 * makes the same mutant.
 */

struct mutation {
	uint64_t state;
};

struct mutation_span {
	const uint8_t *bytes; /* borrowed */
	size_t size;
};

uint64_t mutation_random(struct mutation *m);

/* A number below the limit; 0 if that is 0. */
size_t mutation_below(struct mutation *m, size_t limit);

/* Another number: usually near the old one or small, as indices and sizes are; sometimes any. */
uint64_t mutation_number(struct mutation *m, uint64_t old);

/* Changes one number of 1, 2, 4 or 8 bytes at a multiple of its size. */
void mutation_in_place(struct mutation *m, uint8_t *bytes, size_t size);

/* Appends the bytes with changes that the engine makes, up to `room` bytes more than they were. */
void mutation_append_blind(const struct mutation_span *span, size_t room, struct buffer *out);

/* Appends a mutant of the bytes. What it cannot take apart it leaves out: `out` stays empty. */
typedef void mutation_format(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out);

/*
 * The body of LLVMFuzzerCustomMutator(): a mutant by its format, one in eight by the engine, as are those that cannot
 * be taken apart or become too large.
 */
size_t mutation_run(uint8_t *data, size_t size, size_t max_size, unsigned int seed, mutation_format *mutate);

/* Changes one of two files, of which the first stands behind its size (16 bits; 0: there is only the second). */
void mutation_pair(struct mutation *m, mutation_format *mutate, const struct mutation_span *pair, struct buffer *out);
