/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The runtime's own work beside running the program's code: it collects garbage, compiles functions while they run, and
 * reads scripts before they do. It does so in threads of its own and within calls of the program's.
 *
 * A stack in which it does has a frame of its own for it, right above the function in which it begins; in a thread that
 * does nothing else it is the outermost frame. So one row of a report has all of it: "[garbage collection]".
 */

struct profile;

enum profile_activity {
	PROFILE_ACTIVITY_NONE,
	PROFILE_ACTIVITY_COLLECTION,  /* it is the program that makes the garbage */
	PROFILE_ACTIVITY_COMPILATION, /* how much is compiled depends on how long the program has run */
	/*
	 * From a script's text to what the interpreter runs: done once where the result is kept (.pyc, opcache), and
	 * else again for each run or request, which the program pays for.
	 */
	PROFILE_ACTIVITY_SCRIPTS,
};
enum { PROFILE_ACTIVITY_COUNT = 4 };

/* Returns the activity in words: "garbage collection", "just-in-time compilation". Static; "" of none. */
const char *profile_activity_words(enum profile_activity activity);

/* Returns the activity whose frame a function is, by its name and module. */
enum profile_activity profile_activity_of_frame(const char *name, const char *module);

/*
 * Adds the frames of activities to the stacks, which have names. Stacks that have such frames already stay as they are.
 * On failure the profile may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_mark_activities(struct profile *profile, struct error *err);
