/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/truncated.h"

#include "diff/match/align.h"
#include "diff/match/surroundings.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a name is what tools call the sum of frames that they left out. */
static bool is_sum_of_others(const char *name)
{
	static const char *const names[] = { "other", "others", "(other)", "[other]", "truncated", "(truncated)",
		"[truncated]", "<truncated>", "...", "(...)", "[...]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Returns the function of that kind that only this side has, or PROFILE_NONE. */
static uint32_t find_sum(const struct diff_build *build, enum diff_side side)
{
	for (uint32_t i = 0; i < build->diff->function_count; i++)
		if (align_only_on(build, i, side) &&
			is_sum_of_others(diff_string(build->diff, build->diff->functions[i].name)))
			return i;
	return PROFILE_NONE;
}

/* Returns the time of the smallest function of a side but the sum, which calls nothing. */
static double smallest_kept(
	const struct diff_build *build, const struct match_surroundings *around, enum diff_side side, uint32_t sum)
{
	double least = DBL_MAX;

	for (uint32_t i = 0; i < build->diff->function_count; i++)
		if (i != sum && build->present[side][i] && around->total[side][i] > 0)
			least = fmin(least, around->total[side][i]);
	return least;
}

static void join_left_out(struct diff_build *build, enum diff_side side, uint32_t sum)
{
	/* A tool's limit is one of time; a function's time differs between recordings. */
	static const double allowance = 3;
	CLEANUP(surroundings_deinit) struct match_surroundings around = { 0 };
	uint32_t count = (uint32_t)build->diff->function_count, into = side == DIFF_HEAD ? sum : PROFILE_NONE;
	CLEANUP(cleanup_free) bool *wanted = memory_zeroed(count + 1, sizeof(*wanted));
	double most;

	memset(wanted, true, count * sizeof(*wanted));
	surroundings_find(build, wanted, &around);
	/* What calls others is no sum of them. */
	if (around.self[side][sum] < around.total[side][sum])
		return;
	most = allowance * smallest_kept(build, &around, side, sum);
	for (uint32_t i = 0; i < count; i++) {
		if (!align_only_on(build, i, !side) || around.total[!side][i] > most)
			continue;
		into = into == PROFILE_NONE ? i : into;
		align_add_to_group(build, !side, i, into, &around);
	}
	if (into == PROFILE_NONE || !build->present[!side][into])
		return;
	align_add_to_group(build, side, sum, into, &around);
	align_name_group(build, into, diff_string(build->diff, build->diff->functions[sum].name));
}

void truncated_match(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		uint32_t sum = find_sum(build, (enum diff_side)side);

		if (sum != PROFILE_NONE)
			join_left_out(build, (enum diff_side)side, sum);
	}
}
