/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * The bottleneck of a function, from its self cost: of a simulation's counts (profile/cost_model.h), or of the counters
 * of a real processor. The classes are those of CodSpeed's CPU simulation, whose rule is not public. A class is the
 * largest component of the self cost if it is at least PROFILE_BOTTLENECK_LEAST_SHARE of it and
 * PROFILE_BOTTLENECK_LEAST_LEAD times the second; else the cost is mixed (docs/decisions/59-bottlenecks.md).
 */
enum profile_bottleneck {
	PROFILE_BOTTLENECK_NONE,        /* not known: the profile has no such data, or too little of this function */
	PROFILE_BOTTLENECK_INSTRUCTION, /* it executes that many instructions */
	PROFILE_BOTTLENECK_CACHE,       /* it waits for data that is in a cache beyond the first */
	PROFILE_BOTTLENECK_MEMORY,      /* it waits for memory */
	PROFILE_BOTTLENECK_SYSTEM,      /* it is in the kernel */
	PROFILE_BOTTLENECK_MIXED,       /* no component is large enough to be its class */
};
enum { PROFILE_BOTTLENECK_COUNT = 6 };

#define PROFILE_BOTTLENECK_LEAST_SHARE 0.4
#define PROFILE_BOTTLENECK_LEAST_LEAD 1.2

/* Returns "", "instruction", "cache", "memory", "system", "mixed". */
const char *profile_bottleneck_name(enum profile_bottleneck bottleneck);

/*
 * Returns what a change of the class consists of, as sentences name it behind a colon: "instructions", "cache misses",
 * "memory accesses", "system time"; "" where there is nothing to name (none, mixed).
 */
const char *profile_bottleneck_cause(enum profile_bottleneck bottleneck);

/*
 * The components of a self cost, in cycles, or in any unit that is the same for all components. Components of several
 * functions, nodes or samples add up; a component that is negative, as rounding may leave it, counts as 0.
 */
struct profile_cost {
	double of[PROFILE_BOTTLENECK_COUNT]; /* [instruction .. system] */
	double samples;                      /* that the values are made of; 0 where nothing was sampled */
};

/* A value type and what each of its units adds to a component; negative: what it takes from there. */
struct profile_cost_term {
	uint32_t value_type;
	enum profile_bottleneck component;
	double cycles;
};

enum { PROFILE_MAX_COST_TERMS = 16 };

/*
 * Which value types of a profile tell of bottlenecks, and how. A further kind of columns is a further row of the table
 * in bottleneck.c: nothing else depends on where the numbers come from.
 */
struct profile_cost_columns {
	bool is_there;   /* false: the profile tells of no bottleneck */
	uint32_t metric; /* the value type whose cost the components explain */
	struct profile_cost_term terms[PROFILE_MAX_COST_TERMS];
	size_t term_count;
	/* The value type that counts the samples; PROFILE_NONE: nothing was sampled. With fewer samples than
	 * `least_samples`, a function has no class. */
	uint32_t samples;
	double least_samples;
};
struct profile_cost_columns profile_cost_columns(const struct profile *profile);

/* Adds the components of a sample's values, which are `value_type_count` numbers. */
void profile_cost_add(const struct profile_cost_columns *columns, const int64_t *values, struct profile_cost *cost);

/* Adds `factor` times `from`. */
void profile_cost_add_scaled(struct profile_cost *cost, const struct profile_cost *from, double factor);

/* Returns the sum of the components, without those that are negative. */
double profile_cost_sum(const struct profile_cost *cost);

/* Returns the class of a cost; NONE for nothing, and for components of fewer samples than `least_samples`. */
enum profile_bottleneck profile_bottleneck_of(const struct profile_cost *cost, double least_samples);

/*
 * Returns what a difference consists of: of a cost that has grown, by how much each component has grown; of one that
 * has shrunk, by how much each has shrunk; classified by the same two rules. Components that went the other way do not
 * count. NONE if the costs are equal, or if a side that has samples has fewer than `least_samples`.
 */
enum profile_bottleneck profile_bottleneck_of_change(
	const struct profile_cost *base, const struct profile_cost *head, double least_samples);
