/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/*
 * The ends of open stacks: counts them by the place of their outermost frame, and by the image that this returns to
 * though no call there has led to it, for as many as there is room. The most frequent ones keep their places (Metwally
 * et al. 2005, "Space-Saving"), and a count may be too large by that of what was there before.
 */
enum { OPEN_ENDS = 16 };

struct open_end {
	uint32_t id;
	uint64_t count;
};

struct open_ends {
	struct open_end places[OPEN_ENDS]; /* by locations of the profile */
	struct open_end placed[OPEN_ENDS]; /* by its mappings */
};

/* Counts a walked stack, whose frames are in the profile, if it is open. */
COMMON_MUST_CHECK
bool open_ends_count(
	struct open_ends *ends, struct process_space *space, const struct unwind_result *result, struct error *err);

/* Writes the most frequent end to the quality. */
void open_ends_finish(const struct open_ends *ends, struct profile_quality *quality);
