/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the steps of a comparison in order: what diff_create() and diff_create_single() do. */
#include "diff/model.h"

#include "diff/bottlenecks.h"
#include "diff/build.h"
#include "diff/match/align.h"
#include "diff/match/code.h"
#include "diff/match/detail.h"
#include "diff/match/frames.h"
#include "diff/match/moved.h"
#include "diff/match/of_whole.h"
#include "diff/match/renamings.h"
#include "diff/match/renumber.h"
#include "diff/match/truncated.h"
#include "diff/match/union_tree.h"
#include "diff/metric.h"
#include "diff/order.h"
#include "diff/requests.h"
#include "diff/statistics/evidence.h"
#include "diff/statistics/instances.h"
#include "diff/statistics/load.h"
#include "diff/statistics/places.h"
#include "diff/statistics/run_figures.h"
#include "diff/statistics/scale.h"
#include "diff/totals.h"
#include "diff/verdict/check.h"
#include "diff/verdict/elapsed.h"
#include "diff/verdict/readings.h"
#include "diff/verdict/verdict.h"
#include "diff/verdict/warnings.h"
#include "diff/wait_sites.h"

#include <assert.h>
#include <math.h>

static bool make_trees(struct diff_build *build, struct error *err)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (build->profiles[side] &&
			!profile_tree_create(build->profiles[side], NULL, &build->trees[side], err))
			return false;
	}
	if (!build_two_sided(build) || build->is_grouped)
		return true;
	detail_level(build);
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!build->cuts[side].leads && !build->cuts[side].inlined)
			continue;
		build->diff->without_inlined[side] = build->cuts[side].inlined;
		profile_tree_destroy(build->trees[side]);
		build->trees[side] = NULL;
		if (!profile_tree_create(build->profiles[side], &build->cuts[side], &build->trees[side], err))
			return false;
	}
	return true;
}

static const char *side_label(const struct profile *profile)
{
	const char *command = profile_string(profile, profile->facts.command);

	return command[0]               ? command
	       : profile->mapping_count ? profile_string(profile, profile->mappings[0].path)
					: "unknown command";
}

static bool check_shared(const struct diff_build *build, struct error *err)
{
	if (build->diff->whole)
		return true;
	for (size_t i = 0; i < build->diff->function_count; i++) {
		if (build->present[DIFF_BASE][i] && build->present[DIFF_HEAD][i] &&
			diff_wait_class(build->diff, &build->diff->functions[i]) == PROFILE_WAIT_NONE)
			return true;
	}
	return error_set(err, ERROR_EMPTY,
		"base (%.100s) and head (%.100s) have no function in common; compare recordings of the same program, both with symbols ('kelvin report FILE --text' shows what each contains)",
		side_label(build->profiles[DIFF_BASE]), side_label(build->profiles[DIFF_HEAD]));
}

static bool make_union(struct diff_build *build, struct error *err)
{
	if (!union_tree_create(build, err))
		return false;
	totals_sum(build);
	return true;
}

static bool compare_align(struct diff_build *build, struct error *err)
{
	size_t moved = 0, renamed = 0, with_class = 0;

	align_functions(build);
	if (!build_two_sided(build) || build->is_grouped) {
		align_show(build);
		return make_union(build, err);
	}
	if (build->diff->whole) {
		of_whole_match(build);
		code_compare(build);
		align_show(build);
		return make_union(build, err);
	}
	renumber_match(build);
	truncated_match(build);
	code_compare(build);
	code_match_renamed(build, &renamed);
	if (renamed > 0)
		code_compare(build);
	align_show(build);
	if (!check_shared(build, err) || !make_union(build, err))
		return false;
	moved_match(build, &moved);
	if (moved + renamed > 0)
		renamings_match(build, &with_class);
	if (moved + with_class == 0)
		return true;
	code_compare(build);
	return make_union(build, err);
}

static bool diff_compare_is_near(double a, double b)
{
	static const double rounding = 1e-6;

	return fabs(a - b) <= rounding * (fabs(a) + fabs(b));
}

/*
 * Takes over the estimate that is known of all of a part, if that is of the same time. Its sums are its own, which
 * differ by rounding.
 */
static void take_total(struct diff_build *build)
{
	const struct diff_estimate *known = build->options.total;
	struct diff_estimate *total = &build->diff->total;

	if (!known || !diff_compare_is_near(known->base, total->base) ||
		!diff_compare_is_near(known->head, total->head))
		return;
	total->ci_low = isnan(known->ci_low) ? NAN : fmin(known->ci_low, total->delta);
	total->ci_high = isnan(known->ci_high) ? NAN : fmax(known->ci_high, total->delta);
	total->q = known->q;
	total->detectable = known->detectable;
	total->state = known->state;
	build->diff->nodes[0].state = (uint8_t)known->state;
	build->diff->nodes[0].ci_low = (float)total->ci_low;
	build->diff->nodes[0].ci_high = (float)total->ci_high;
}

static bool compare_weigh(struct diff_build *build, struct error *err)
{
	if (!build_two_sided(build)) {
		totals_scale(build->diff);
		return true;
	}
	if (!build->is_grouped)
		load_measure(build);
	if (!scale_choose(build, err))
		return false;
	totals_scale(build->diff);
	evidence_weigh(build);
	take_total(build);
	if (!build->is_grouped) {
		moved_link(build);
		frames_link(build);
	}
	places_mark(build);
	if (!build->diff->whole)
		readings_choose(build);
	run_figures_collect(build);
	instances_collect(build);
	return true;
}

bool build_sum_up(struct diff_build *build, struct error *err)
{
	if (!metric_choose(build, err))
		return false;
	requests_collect(build);
	if (!make_trees(build, err) || !compare_align(build, err))
		return false;
	union_tree_place_samples(build);
	return true;
}

/* Compares elapsed time in parts, and what threads wait for where that tells more. `*waits` is owned; NULL: nothing. */
static bool measure_elapsed(struct diff_build *build, struct diff **waits, struct error *err)
{
	struct diff_options options = build->options;
	struct error failure;

	if (!build_two_sided(build))
		return true;
	elapsed_measure(build);
	if (!elapsed_needs_waits(build->diff))
		return true;
	options.metric = "wall";
	options.gate_count = 0;
	options.control = NULL;
	/* A profile of others may have no other metric: then no more is known. */
	if (diff_create(build->profiles[DIFF_BASE], build->profiles[DIFF_HEAD], &options, waits, &failure)) {
		elapsed_find_overlap(build->diff, *waits);
		return true;
	}
	*err = failure;
	return failure.code != ERROR_MEMORY;
}

static bool diff_compare_profiles(struct diff_build *build, struct diff **diff, struct error *err)
{
	CLEANUP(diff_cleanup) struct diff *waits = NULL;

	if (!build_sum_up(build, err))
		return false;
	wait_sites_find_releases(build);
	build_release_trees(build);
	if (!compare_weigh(build, err))
		return false;
	/* Groups need their rows only. */
	if (build->mixes) {
		*diff = TAKE(build->diff);
		return true;
	}
	bottlenecks_collect(build);
	wait_sites_collect(build);
	if (!warnings_collect(build, err) || !measure_elapsed(build, &waits, err) || !verdict_decide(build, err) ||
		(build_two_sided(build) && !elapsed_say(build, waits, err)))
		return false;
	order_functions(build);
	if (build_two_sided(build))
		renamings_collect(build);
	assert(verdict_check(build->diff) == NULL);
	*diff = TAKE(build->diff);
	return true;
}

bool diff_create(const struct profile *base, const struct profile *head, const struct diff_options *options,
	struct diff **diff, struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { base, head } };

	build_init(&build, options);
	return diff_compare_profiles(&build, diff, err);
}

bool diff_create_single(
	const struct profile *profile, const struct diff_options *options, struct diff **diff, struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { NULL, profile } };

	build_init(&build, options);
	return diff_compare_profiles(&build, diff, err);
}

bool build_compare_groups(const struct profile *const profiles[DIFF_SIDES], const struct diff *like,
	const struct diff_mixes *mixes, struct diff **diff, struct error *err)
{
	const struct diff_options options = { .like = like };
	CLEANUP(build_deinit)
	struct diff_build build = { .profiles = { profiles[DIFF_BASE], profiles[DIFF_HEAD] }, .mixes = mixes };

	build_init(&build, &options);
	return diff_compare_profiles(&build, diff, err);
}
