/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/process/process.h"

/*
 * Where open stacks end: counts them by the place of their outermost frame, for as many places as there is room. The
 * most frequent ones keep their places (Metwally et al. 2005, "Space-Saving"), and a count may be too large by that of
 * what was there before.
 */
enum { OPEN_ENDS = 16 };

struct open_ends {
	struct {
		uint32_t location; /* of the profile */
		uint64_t count;
	} places[OPEN_ENDS];
};

/* Counts a walked stack, whose frames are in the profile, if it is open. */
COMMON_MUST_CHECK
bool open_ends_count(struct open_ends *ends, const struct process_table *table, const struct unwind_result *result,
	struct error *err);

/* Writes the most frequent end to the quality. */
void open_ends_finish(const struct open_ends *ends, struct profile_quality *quality);
