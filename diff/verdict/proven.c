/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/proven.h"

#include "diff/constants.h"
#include "diff/verdict/explained.h"

#include <math.h>
#include <string.h>

const double proven_decisive_points = 3;

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

/*
 * A direction in which only totals are proven, such as that of a function whose callees all grew a little, has the
 * greatest of them. Totals repeat what is below them; all self time of waits is in the frames of classes.
 */
static void find_all_greatest(
	struct proven *proven, const struct diff *diff, const bool is_named[static PROFILE_LANGUAGE_COUNT])
{
	struct proven totals = { 0 };
	bool by_total = diff->waiting != DIFF_WAITING_NONE;

	for (size_t i = 0; i < diff->function_count; i++)
		find_greatest(proven, &diff->functions[i], &diff->functions[i].self);
	if (!by_total)
		totals = *proven;
	for (size_t i = 0; i < diff->function_count; i++)
		if (!is_named[diff->functions[i].interprets])
			find_greatest(by_total ? proven : &totals, &diff->functions[i], &diff->functions[i].total);
	if (!by_total && !proven->more.greatest)
		proven->more = totals.more;
	if (!by_total && !proven->less.greatest)
		proven->less = totals.less;
}

/* ---- Disjoint subtrees ---- */

/* What is proven at a node and below it, each place once: raw values of base that were added, and taken away. */
struct subtree {
	double more, less;
};

static void subtree_add(struct subtree *subtree, double delta)
{
	*(delta > 0 ? &subtree->more : &subtree->less) += fabs(delta);
}

/* Adds a node's own time, of which its callees took over, or gave it, what is proven of them in the other direction. */
static void subtree_add_self(struct subtree *subtree, double delta)
{
	double *opposed = delta > 0 ? &subtree->less : &subtree->more;
	double given = fmin(fabs(delta), *opposed);

	*opposed -= given;
	subtree_add(subtree, delta > 0 ? delta - given : delta + given);
}

static double node_delta(const struct diff *diff, double *const values[DIFF_SIDES], uint32_t node)
{
	return values[DIFF_HEAD][node] * diff->scale.factor - values[DIFF_BASE][node];
}

/*
 * Returns whether a node's total is proven. Of an interpreter only the self time is its own, and what the program is in
 * all the time says nothing of what it is made of.
 */
static bool subtree_is_proven(
	const struct diff_build *build, const bool is_named[static PROFILE_LANGUAGE_COUNT], uint32_t node)
{
	const struct diff_function *f = &build->diff->functions[build->diff->nodes[node].function];

	return proven_way_of(f->total.state) && !is_named[f->interprets] && build->topmost[node] &&
	       !explained_is_whole(build->diff, &f->total);
}

/*
 * Adds up what is proven in disjoint subtrees. One whose total is proven counts with its net difference, however that
 * came about below: a function that grew while what it used to call vanished has grown.
 */
static void sum_subtrees(
	struct proven *proven, const struct diff_build *build, const bool is_named[static PROFILE_LANGUAGE_COUNT])
{
	const struct diff *diff = build->diff;
	CLEANUP(cleanup_free) struct subtree *subtrees = memory_zeroed(diff->node_count + 1, sizeof(*subtrees));
	double points = 100 / build_points_of(diff);

	for (uint32_t node = (uint32_t)diff->node_count - 1; node > 0; node--) {
		struct subtree *subtree = &subtrees[node], *parent = &subtrees[diff->nodes[node].parent];

		if (diff->nodes[node].flags & DIFF_NODE_INTERRUPT)
			continue;
		if (subtree_is_proven(build, is_named, node)) {
			*subtree = (struct subtree){ 0 };
			subtree_add(subtree, node_delta(diff, diff->node_total, node));
		} else if (proven_way_of(diff->functions[build_owner(build, node)].self.state)) {
			subtree_add_self(subtree, node_delta(diff, diff->node_self, node));
		}
		parent->more += subtree->more;
		parent->less += subtree->less;
	}
	/* What is proven in one direction may add up to the other one in some places: no function shows that. */
	proven->more.points = proven->more.greatest ? subtrees[0].more * points : 0;
	proven->less.points = proven->less.greatest ? subtrees[0].less * points : 0;
}

struct proven proven_find(const struct diff_build *build)
{
	struct proven proven = { 0 };
	bool is_named[PROFILE_LANGUAGE_COUNT];

	proven_named_languages(build->diff, is_named);
	count_changes(&proven, build->diff);
	find_all_greatest(&proven, build->diff, is_named);
	sum_subtrees(&proven, build, is_named);
	return proven;
}

enum proven_way proven_decide(const struct proven *proven)
{
	double most = fmax(proven->more.points, proven->less.points),
	       other = fmin(proven->more.points, proven->less.points);

	if (most < proven_decisive_points || other > proven_opposed_share * most)
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
