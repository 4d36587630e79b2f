/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/language.h"

/* Functions without names. */

struct profile;

/* A language whose functions lack their names. Its row has what they are called, and how to get the names. */
struct profile_nameless {
	enum profile_language language; /* PROFILE_LANGUAGE_UNKNOWN: code made at run time of any other */
	bool is_beside;                 /* functions of another kind that its runtime makes, as WebAssembly's */
	/*
	 * share of the time (the default value type; of a recording of waits the CPU time) in samples whose stack
	 * contains such a function
	 */
	double percent;
};

/*
 * The languages whose functions have no names in 5 % of the time or more, the largest share first: those of
 * interpreters that do not give names, and code made at run time that nobody has named. A sample is in such code if
 * that is the innermost code of its stack that was made at run time, whatever else has names. A sample counts for one
 * language. The result has `*count` entries.
 */
COMMON_MUST_CHECK
bool profile_find_nameless(const struct profile *profile, struct profile_nameless found[PROFILE_LANGUAGE_COUNT],
	size_t *count, struct error *err);

/*
 * Appends `62 % of the time passes through Python functions that have no names: start it with ...`, without a full
 * stop.
 */
void profile_nameless_sentence(const struct profile_nameless *nameless, struct buffer *out);
