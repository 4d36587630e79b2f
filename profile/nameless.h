/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Functions without names. */

struct profile;

enum { PROFILE_NAMELESS_MAX = 10 };

/* A language whose functions lack their names, and how to get them. Strings are static. */
struct profile_nameless {
	const char *what;      /* "Python functions" */
	const char *next_step; /* "start it with ..." */
	/*
	 * share of the time (the default value type; of a recording of waits the CPU time) in samples whose stack
	 * contains such a function
	 */
	double percent;
};

/*
 * The languages whose functions have no names in 5 % of the time or more, the largest share first: those of
 * interpreters that do not give names, and code made at run time without a map. A sample counts for one language. The
 * result has `*count` entries.
 */
COMMON_MUST_CHECK
bool profile_find_nameless(const struct profile *profile, struct profile_nameless found[PROFILE_NAMELESS_MAX],
	size_t *count, struct error *err);

/*
 * Appends `62 % of the time passes through Python functions that have no names: start it with ...`, without a full
 * stop.
 */
void profile_nameless_sentence(const struct profile_nameless *nameless, struct buffer *out);
