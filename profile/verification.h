/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The result of the second opinion (--verify): stacks that libunwind unwound again from the same registers and the same
 * stack copy, and addresses that libdw named again. The recorder counts stacks, naming counts names, and both show some
 * of the differences.
 */

struct profile;

enum profile_comparison {
	PROFILE_COMPARISON_EQUAL,   /* both have the same addresses in the same order */
	PROFILE_COMPARISON_LONGER,  /* the reference ended earlier, after the same addresses */
	PROFILE_COMPARISON_SHORTER, /* the reference went on after the same addresses */
	PROFILE_COMPARISON_OTHER,   /* an address differs */
};
enum { PROFILE_COMPARISON_COUNT = 4 };

/* Differences that are shown: of stacks, and of names. A profile has room for those of both. */
enum { PROFILE_MOST_DIFFERENCES = 5, PROFILE_ROOM_FOR_DIFFERENCES = 2 * PROFILE_MOST_DIFFERENCES };

/* Returns "equal", "longer", "shorter", "other". */
const char *profile_comparison_name(enum profile_comparison comparison);

/* Counts over all runs. */
struct profile_verification {
	bool is_there; /* the recording was verified */
	uint64_t stacks[PROFILE_COMPARISON_COUNT];
	uint64_t names_equal, names_other;
	uint64_t names_unfinished; /* addresses on which libdw crashed, or took too long; no file has them */
	/* strings: some of the differences, each described in lines of text */
	uint32_t differences[PROFILE_ROOM_FOR_DIFFERENCES];
	uint32_t difference_count;
};

/* Adds lines of text to profile->verification.differences, while there is room. */
COMMON_MUST_CHECK
bool profile_add_difference(struct profile *profile, const char *text, struct error *err);

/*
 * Adds the counts of `from` to those of `into`, and its differences while there is room. The strings of both belong to
 * the same profile.
 */
void profile_verification_add(struct profile_verification *into, const struct profile_verification *from);

/* Returns how many stacks were compared. */
uint64_t profile_verification_stacks(const struct profile_verification *verification);

/* Appends the part of the sentence about names: "812 names compared with libdw: 812 equal". */
void profile_verification_names(const struct profile_verification *verification, struct buffer *out);

/*
 * Appends "1,000 stacks compared with libunwind: 996 equal, 4 longer here; 812 names compared with libdw: 812 equal".
 */
void profile_verification_sentence(const struct profile_verification *verification, struct buffer *out);

/* Appends "--verify: libdw did not get to 12 addresses: ..." if there are any. */
void profile_verification_unfinished(const struct profile_verification *verification, struct buffer *out);

/*
 * Appends the sentence and the differences, each with the end of its line; nothing if the recording was not verified.
 */
void profile_verification_append(const struct profile *profile, struct buffer *text);
