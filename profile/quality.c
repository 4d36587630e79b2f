/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/quality.h"

#include "profile/profile.h"

#include <string.h>

static const char *const stop_names[PROFILE_STOP_COUNT] = { "root", "stitched", "kernel only", "dump end", "no mapping",
	"no unwind rule", "bad stack pointer", "stack switch", "too deep", "no registers", "unwinder failed",
	"frame pointers end" };

const char *profile_stop_name(enum profile_stop stop)
{
	return stop_names[stop];
}

bool profile_tells_whole(const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	uint64_t told = 0;

	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		told |= quality->stops[i];
	return told &&
	       (quality->frames > 0 || strncmp(profile_string(profile, profile->facts.call_graph), "dwarf", 5) == 0);
}

double profile_quality_whole_percent(const struct profile_quality *quality)
{
	uint64_t whole = quality->stops[PROFILE_STOP_ROOT] + quality->stops[PROFILE_STOP_STITCHED] +
			 quality->stops[PROFILE_STOP_KERNEL_ONLY];
	uint64_t told = 0;

	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		told |= quality->stops[i];
	return quality->samples && told ? 100.0 * (double)whole / (double)quality->samples : 100.0;
}
