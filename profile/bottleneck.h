/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * What holds a function up, from its self cost: of a simulation's counts (profile/cost_model.h), or of the counters of
 * a real processor.
 */
enum profile_bottleneck {
	PROFILE_BOTTLENECK_NONE,        /* not known: the profile has no such data, or too little of this function */
	PROFILE_BOTTLENECK_INSTRUCTION, /* it executes that many instructions */
	PROFILE_BOTTLENECK_CACHE,       /* it waits for data that is in a cache beyond the first */
	PROFILE_BOTTLENECK_MEMORY,      /* it waits for memory */
	PROFILE_BOTTLENECK_SYSTEM,      /* it is in the kernel */
	PROFILE_BOTTLENECK_MIXED,       /* none of them is 40 % of it and 1.2 times the next */
};
enum { PROFILE_BOTTLENECK_COUNT = 6 };

/* "", "instruction", "cache", "memory", "system", "mixed". */
const char *profile_bottleneck_name(enum profile_bottleneck bottleneck);

/* What a self cost consists of, in cycles, or in any unit that is the same for all parts. */
struct profile_cost_parts {
	double of[PROFILE_BOTTLENECK_COUNT]; /* [instruction .. system] */
};

/* Which value types of a profile tell of bottlenecks; PROFILE_NONE: it has none such. */
struct profile_cost_columns {
	bool is_there; /* false: the profile tells of no bottleneck */
	uint32_t cycles, first_misses, last_misses, system;
};
struct profile_cost_columns profile_cost_columns(const struct profile *profile);

/* `values`: of one function or node, as `value_type_count` numbers. */
struct profile_cost_parts profile_cost_parts(const struct profile_cost_columns *columns, const int64_t *values);

/* The largest part, if it is 40 % of all and 1.2 times the second, else PROFILE_BOTTLENECK_MIXED; NONE for nothing. */
enum profile_bottleneck profile_bottleneck_of(const struct profile_cost_parts *parts);

/*
 * What a difference consists of: the part that has grown most, for a cost that has grown, or shrunk most, for one that
 * has shrunk, by the same two rules.
 */
enum profile_bottleneck profile_bottleneck_of_change(
	const struct profile_cost_parts *base, const struct profile_cost_parts *head);
