/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/function_units.h"

#include "diff/build.h"
#include "diff/statistics/work.h"
#include "diff/totals.h"

#include <stdlib.h>

void diff_function_units_destroy(struct diff_function_units *units)
{
	if (!units)
		return;
	diff_destroy(units->diff);
	free(units->fingerprint);
	free(units);
}

/* A function has a fingerprint where all that was sampled of it is one piece of code. */
static void function_units_fingerprint(const struct diff_build *build, struct diff_function_units *units)
{
	const struct profile *profile = build->profiles[DIFF_HEAD];
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) bool *has_several = memory_zeroed(count + 1, sizeof(*has_several));

	units->fingerprint = memory_zeroed(count + 1, sizeof(*units->fingerprint));
	for (uint32_t i = 0; i < profile->function_count; i++) {
		uint32_t id = build_function(build, DIFF_HEAD, i);
		uint64_t fingerprint = profile->functions[i].fingerprint;

		if (id == PROFILE_NONE || fingerprint == 0)
			continue;
		has_several[id] |= units->fingerprint[id] && units->fingerprint[id] != fingerprint;
		units->fingerprint[id] = fingerprint;
	}
	for (size_t i = 0; i < count; i++)
		units->fingerprint[i] = has_several[i] ? 0 : units->fingerprint[i];
}

bool diff_function_units_create(const struct profile *profile, const struct diff_options *options,
	struct diff_function_units **units, struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { NULL, profile }, .is_for_comparison = true };
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *made = memory_zeroed(1, sizeof(*made));

	build_init(&build, options);
	if (!build_sum_up(&build, err))
		return false;
	build_release_trees(&build);
	totals_scale(build.diff);
	made->sample_weight = build.sample_weight[DIFF_HEAD];
	function_units_fingerprint(&build, made);
	made->counts_requests = build.diff->requests[DIFF_HEAD].count > 0 && work_is_of_requests(profile);
	made->diff = TAKE(build.diff);
	*units = TAKE(made);
	return true;
}
