/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/proven.h"

#include "diff/verdict/explained.h"

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

/* Finds the largest proven difference of a function in each direction, of its self time or its total. */
static void find_greatest(struct proven *proven, const struct diff_function *f, const struct diff_estimate *e)
{
	enum proven_way way = proven_way_of(e->state);
	struct proven_side *side = proven_side_of(proven, way);

	if (way && (!side->greatest || fabs(e->delta) > fabs(side->estimate->delta))) {
		side->greatest = f;
		side->estimate = e;
	}
}

static void add_points(struct proven *proven, const struct diff *diff, double delta)
{
	proven_side_of(proven, delta < 0 ? PROVEN_LESS : PROVEN_MORE)->points +=
		fabs(delta) / build_points_of(diff) * 100;
}

/*
 * Adds up what is proven in disjoint subtrees. One whose total is proven counts with its net difference, however that
 * came about below: a function that grew while what it used to call vanished has grown. Of an interpreter only the self
 * time is its own, and what the program is in all the time says nothing of what it is made of.
 */
static void sum_subtrees(
	struct proven *proven, const struct diff_build *build, const bool is_named[static PROFILE_LANGUAGE_COUNT])
{
	const struct diff *diff = build->diff;

	for (uint32_t node = 1; node < diff->node_count;) {
		const struct diff_node *n = &diff->nodes[node];
		const struct diff_function *f = &diff->functions[n->function];
		bool is_proven = proven_way_of(f->total.state) && !is_named[f->interprets] && build->topmost[node] &&
				 !explained_is_whole(diff, &f->total);

		if (is_proven && !(n->flags & DIFF_NODE_INTERRUPT))
			add_points(proven, diff,
				diff->node_total[DIFF_HEAD][node] * diff->scale.factor -
					diff->node_total[DIFF_BASE][node]);
		if (is_proven || (n->flags & DIFF_NODE_INTERRUPT)) {
			node = n->subtree_end;
			continue;
		}
		if (proven_way_of(diff->functions[build_owner(build, node)].self.state))
			add_points(proven, diff,
				diff->node_self[DIFF_HEAD][node] * diff->scale.factor -
					diff->node_self[DIFF_BASE][node]);
		node++;
	}
}

struct proven proven_find(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	struct proven proven = { 0 };
	bool by_total, is_named[PROFILE_LANGUAGE_COUNT];

	proven_named_languages(diff, is_named);
	count_changes(&proven, diff);
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		find_greatest(&proven, f, &f->self);
	}
	/* Totals repeat what is below them. All self time of waits is in the frames of classes. */
	by_total = diff->waiting != DIFF_WAITING_NONE || (!proven.more.greatest && !proven.less.greatest);
	for (size_t i = 0; i < diff->function_count && by_total; i++)
		if (!is_named[diff->functions[i].interprets])
			find_greatest(&proven, &diff->functions[i], &diff->functions[i].total);
	sum_subtrees(&proven, build, is_named);
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
