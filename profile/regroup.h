/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * Makes a profile whose functions are groups of another one's samples: the lines of a function, the values of a label,
 * threads. Runs, threads, events, values, facts and requests stay, so that a diff of two such profiles tests groups as
 * it tests functions: by the same units, at the same rate. A wait keeps the frame of its class below its groups; locks
 * and who let threads go on are left out.
 */
struct profile_regrouping {
	const char *const *names; /* [group] its identity on both sides; no two are equal */
	size_t group_count;
	/*
	 * Groups of sample i: groups[first[i]] to groups[first[i + 1] - 1], the outermost first, each once. Samples
	 * without any are of the group `rest`.
	 */
	const uint32_t *first, *groups;
	const char *rest;     /* equal to none of the names, or to the one group that such samples join */
	const bool *left_out; /* [sample] it is in no group, and its events are gone; NULL: none is */
};

/* The module of functions that are groups, by which a diff knows that they are no code. */
#define PROFILE_GROUP_MODULE "[group]"

COMMON_MUST_CHECK
bool profile_regroup(const struct profile *profile, const struct profile_regrouping *regrouping,
	struct profile **regrouped, struct error *err);
