/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;
struct profile_symbols;

/*
 * Code that is made at run time takes the place of other code. A location, which is an address in a mapping, is of the
 * code that stood there last; code that stood there before is a generation of it, with a location of its own that has
 * frames but no address.
 */
struct profile_generation {
	uint32_t location; /* of the code that came last */
	uint32_t former;   /* of this code */
	/*
	 * Other code took its place between these two, as times of events, and is taken to have done so at the later
	 * one. INT64_MIN for that one: it is not known when, and events are not of this code.
	 */
	int64_t from_ns, until_ns;
};

/*
 * Gives events the generation of their time: their samples get stacks of the locations that stood there then. Those of
 * a location stand together, in order of time. Events and their times stay; to be called after
 * profile_finish(). Samples without events stay with what stood there last, and so do events of stacks so deep, and of
 * code that changes so often, that their user has used up his share of the work (common/shares.h); `symbols` tells
 * whose the processes are. `*doubtful`: the part of the default value type whose generation is not known for sure, from
 * 0 to 1. On failure the profile may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_place_generations(struct profile *profile, const struct profile_symbols *symbols,
	const struct profile_generation *generations, size_t count, double *doubtful, struct error *err);
