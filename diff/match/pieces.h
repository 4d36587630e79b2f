/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The machine code of functions on one side, by fingerprints. A function has several pieces if it was split, as into
 * `f` and `f.cold`. What a function is, the caller decides, who numbers the functions of both sides alike.
 */
struct code_piece {
	uint64_t fingerprint;
	uint32_t function;
};

struct code_pieces {
	struct code_piece *items; /* owned; by function, then fingerprint, without duplicates */
	size_t count;
};

/* Collects the pieces of code; `numbers`: [profile function] its number, or PROFILE_NONE: it is left out. */
void pieces_collect(const struct profile *profile, const uint32_t *numbers, struct code_pieces *pieces);
void pieces_deinit(struct code_pieces *pieces);

/*
 * Calls `tell` for each function with pieces in base: its code is the same if all pieces of one side are among those of
 * the other, since a piece that was sampled on one side only proves nothing; UNKNOWN: head has none of it.
 */
void pieces_compare(const struct code_pieces *base, const struct code_pieces *head,
	void (*tell)(void *context, uint32_t function, enum diff_code code), void *context);

/* The kernel is the same if its release is the same: kernels have no build id here. */
bool pieces_are_of_one_kernel(const struct profile *base, const struct profile *head);
