/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/courier.h"

/*
 * Makes a profile of what tables have of it: frames, stacks and samples that refer to each other by hashes. Each run is
 * an instance of the program, or another replicate. All of it is foreign. What refers to something that is not there
 * is counted, and ends in no profile.
 */
struct assembly {
	struct profile *profile;                 /* owned; value types, facts and labels are set by whoever makes it */
	struct hash_map frames, stacks, threads; /* private: from hashes, and keys of runs, to ids */
	uint64_t missing;                        /* samples whose stack is not there */
};

COMMON_MUST_CHECK
bool assembly_init(struct assembly *assembly, struct error *err);
void assembly_deinit(struct assembly *assembly);

/* Adds a run with one thread. ERROR_FORMAT: there is one with this key. */
COMMON_MUST_CHECK
bool assembly_add_run(struct assembly *assembly, uint64_t key, const struct profile_run *run, struct error *err);

/* Adds a frame: the functions and lines of one place, the innermost first. */
COMMON_MUST_CHECK
bool assembly_add_frame(struct assembly *assembly, uint64_t hash, uint32_t mapping, const struct profile_line *lines,
	size_t count, struct error *err);

static inline bool assembly_has_frame(const struct assembly *assembly, uint64_t hash)
{
	return hash_map_get(&assembly->frames, &hash) != HASH_MAP_NONE;
}

/* Adds a stack of frames, the leaf first; frames that are not there are left out of it. */
COMMON_MUST_CHECK
bool assembly_add_stack(
	struct assembly *assembly, uint64_t hash, const uint64_t *frames, size_t count, struct error *err);

/* Adds values, one for each value type. */
COMMON_MUST_CHECK
bool assembly_add_sample(
	struct assembly *assembly, uint64_t run, uint64_t stack, const int64_t *values, struct error *err);

/* Hands the profile over as pprof; `in_parts`, `by_instance`: what its runs are, for its name. */
COMMON_MUST_CHECK
bool assembly_hand_over(struct assembly *assembly, bool in_parts, bool by_instance, struct courier *courier,
	struct store_profiles *profiles, struct error *err);
