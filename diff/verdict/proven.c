/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/proven.h"

#include <math.h>
#include <string.h>

const double proven_decisive_points = 3;
static const double opposed_share = 0.5;

enum proven_way proven_way_of(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_MORE:
	case DIFF_STATE_NEW:
		return PROVEN_MORE;
	case DIFF_STATE_LESS:
	case DIFF_STATE_GONE:
		return PROVEN_LESS;
	case DIFF_STATE_SAME:
	case DIFF_STATE_UNPROVEN:
	case DIFF_STATE_MOVED:
		return PROVEN_NEITHER;
	}
	return PROVEN_NEITHER;
}

void proven_named_languages(const struct diff *diff, bool is_named[static PROFILE_LANGUAGE_COUNT])
{
	memset(is_named, 0, PROFILE_LANGUAGE_COUNT * sizeof(*is_named));
	for (size_t i = 0; i < diff->function_count; i++)
		is_named[diff->functions[i].language] = true;
	/* It stands for functions that are no interpreter's. */
	is_named[PROFILE_LANGUAGE_NATIVE] = false;
}

static struct proven_side *proven_side_of(struct proven *proven, enum proven_way way)
{
	return way == PROVEN_LESS ? &proven->less : &proven->more;
}

/* Lists show the same number. */
static void count_changes(struct proven *proven, const struct diff *diff)
{
	for (size_t i = 0; i < diff->change_count; i++) {
		const struct diff_change *change = &diff->changes[i];

		if (!change->is_of_others)
			proven_side_of(proven, proven_way_of(diff_change_estimate(diff, change)->state))->changes++;
	}
}

/*
 * Returns whether a proven change may count for the verdict. One recording does not show what a run-time compiler would
 * do in another process; runs do, with the bounds of what it may have moved (modes.h).
 */
static bool counts_alone(const struct diff *diff, const struct diff_function *f)
{
	bool has_runs = diff->evidence.mode == DIFF_EVIDENCE_RUNS ||
			(diff->evidence.mode == DIFF_EVIDENCE_EXACT && diff->evidence.floor_rsd == 0);

	return has_runs || !build_is_compiled_at_run_time(f);
}

/* Total times include those of the callees, so only the largest in each direction counts. */
static void add_estimate(struct proven *proven, const struct diff *diff, const struct diff_function *f, bool is_self)
{
	const struct diff_estimate *e = is_self ? &f->self : &f->total;
	double points = fabs(e->delta) / build_points_of(diff) * 100;
	enum proven_way way = proven_way_of(e->state);
	struct proven_side *side = proven_side_of(proven, way);

	if (!way || !counts_alone(diff, f))
		return;
	side->points = is_self ? side->points + points : fmax(side->points, points);
	if (!side->greatest || fabs(e->delta) > fabs(side->estimate->delta)) {
		side->greatest = f;
		side->estimate = e;
	}
}

struct proven proven_find(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	struct proven proven = { 0 };
	bool counts_totals, is_named[PROFILE_LANGUAGE_COUNT];

	proven_named_languages(diff, is_named);
	count_changes(&proven, diff);
	for (size_t i = 0; i < diff->function_count; i++)
		add_estimate(&proven, diff, &diff->functions[i], true);
	/*
	 * If most of the change is below functions without self time of their own, total times are counted too: all of
	 * them, whatever their order. All self time of waits is in the frames of classes, so that only total times tell
	 * one place from another.
	 */
	counts_totals =
		diff->waiting != DIFF_WAITING_NONE || proven.more.points + proven.less.points < proven_decisive_points;
	for (size_t i = 0; counts_totals && i < diff->function_count; i++)
		if (!is_named[diff->functions[i].interprets])
			add_estimate(&proven, diff, &diff->functions[i], false);
	return proven;
}

enum proven_way proven_decide(const struct proven *proven)
{
	double most = fmax(proven->more.points, proven->less.points),
	       other = fmin(proven->more.points, proven->less.points);

	if (most < proven_decisive_points || other > opposed_share * most)
		return PROVEN_NEITHER;
	return proven->more.points > proven->less.points ? PROVEN_MORE : PROVEN_LESS;
}

const struct proven_side *proven_greater(const struct proven *proven)
{
	if (!proven->less.greatest)
		return &proven->more;
	if (!proven->more.greatest)
		return &proven->less;
	return fabs(proven->less.estimate->delta) > fabs(proven->more.estimate->delta) ? &proven->less : &proven->more;
}
