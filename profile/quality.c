/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/quality.h"

#include "profile/model.h"

#include <string.h>

static const char *const stop_names[PROFILE_STOP_COUNT] = { "root", "stitched", "kernel only", "dump end", "no mapping",
	"no unwind rule", "bad stack pointer", "stack switch", "too deep", "no registers", "unwinder failed",
	"frame pointers end", "open", "return probe", "without a frame" };

const char *profile_stop_name(enum profile_stop stop)
{
	return stop_names[stop];
}

static bool has_stops(const struct profile_quality *quality)
{
	uint64_t stops = 0;

	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		stops |= quality->stops[i];
	return stops != 0;
}

bool profile_knows_whole_stacks(const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;

	return has_stops(quality) &&
	       (quality->frames > 0 || strncmp(profile_string(profile, profile->facts.call_graph), "dwarf", 5) == 0);
}

double profile_quality_whole_percent(const struct profile_quality *quality)
{
	uint64_t whole = quality->stops[PROFILE_STOP_ROOT] + quality->stops[PROFILE_STOP_STITCHED] +
			 quality->stops[PROFILE_STOP_KERNEL_ONLY];
	double percent = 100;

	if (quality->samples > 0 && has_stops(quality))
		percent = 100 * (double)whole / (double)quality->samples;
	return percent < 100 && percent > 99.9 ? 99.9 : percent;
}

static double stop_percent(const struct profile_quality *quality, enum profile_stop stop)
{
	return quality->samples ? 100.0 * (double)quality->stops[stop] / (double)quality->samples : 0;
}

double profile_quality_open_percent(const struct profile_quality *quality)
{
	return stop_percent(quality, PROFILE_STOP_OPEN);
}

double profile_quality_frameless_percent(const struct profile_quality *quality)
{
	return stop_percent(quality, PROFILE_STOP_FRAMELESS);
}
