/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/cause.h"

#include "diff/constants.h"
#include "diff/verdict/explained.h"

#include <math.h>
#include <string.h>

static bool is_self_reason(const struct explained *s, uint32_t function)
{
	const struct diff_estimate *self = &s->diff->functions[function].self;

	return explained_is_proven(s, self) && explained_in_direction(s, self->delta) >= cause_least_share * s->whole;
}

/* The precision with which a function that explains a change says where the change is. */
enum cause_rank {
	CAUSE_PART,  /* a part of the program, or the time is the function's own */
	CAUSE_INNER, /* the program is in it all the time, but another function of the user's code is above it */
	CAUSE_TOP,   /* such as main() */
};

static enum cause_rank cause_rank_of(const struct explained *s, uint32_t function)
{
	if (is_self_reason(s, function) || !explained_is_whole(s->diff, &s->diff->functions[function].total))
		return CAUSE_PART;
	return s->is_under_user[function] ? CAUSE_INNER : CAUSE_TOP;
}

/*
 * Returns whether a function stands for the total. Where the sum of all is proven, a function whose own code is proven
 * to differ may stand for what is proven below it, although its total is not proven by itself: much else may be in
 * that.
 */
static bool stands_for_total(const struct explained *s, const struct diff_function *f)
{
	return explained_is_proven(s, &s->diff->total) && explained_is_proven(s, &f->self) &&
	       explained_in_direction(s, f->total.delta) > 0;
}

static bool may_be_cause(const struct explained *s, uint32_t function)
{
	const struct diff_function *f = &s->diff->functions[function];

	return s->build->redirect[function] == function && s->explained[function] >= cause_least_share * s->whole &&
	       (explained_is_proven(s, &f->total) || is_self_reason(s, function) || stands_for_total(s, f));
}

static bool is_deeper(const struct explained *s, uint32_t a, uint32_t b)
{
	if (s->depth[a] != s->depth[b])
		return s->depth[a] > s->depth[b];
	return s->explained[a] > s->explained[b];
}

/* Returns the deepest function of a kind and rank that explains enough. */
static uint32_t find_deepest(const struct explained *s, enum explained_kind kind, enum cause_rank rank)
{
	uint32_t found = PROFILE_NONE;

	for (uint32_t i = 0; i < s->diff->function_count; i++)
		if (s->kind[i] == kind && may_be_cause(s, i) && cause_rank_of(s, i) == rank &&
			(found == PROFILE_NONE || is_deeper(s, i, found)))
			found = i;
	return found;
}

/* Sums up, by function, what is proven of its own code, or of all below its nodes, in the subtrees of the cause. */
static void sum_within(struct explained *s, uint32_t cause, bool is_self)
{
	const struct diff *diff = s->diff;

	memset(s->scratch, 0, diff->function_count * sizeof(*s->scratch));
	for (uint32_t top = 1; top < diff->node_count; top++) {
		if (diff->nodes[top].function != cause || !explained_is_topmost(s, top))
			continue;
		for (uint32_t node = top + 1; node < diff->nodes[top].subtree_end; node++) {
			if (is_self)
				s->scratch[build_owner(s->build, node)] += explained_own(s, node);
			else if (explained_is_topmost(s, node))
				s->scratch[diff->nodes[node].function] += explained_weight(s, node);
		}
	}
	s->scratch[cause] = 0;
}

/*
 * Returns the function below the cause that its difference comes from: the deepest one in which half of it or more is
 * spent, with all that it calls; else the one in whose own code most is. `*share`: the share of what the cause
 * explains.
 */
static uint32_t find_leaf(struct explained *s, uint32_t cause, double *share)
{
	uint32_t leaf = PROFILE_NONE;

	sum_within(s, cause, false);
	for (uint32_t i = 0; i < s->diff->function_count; i++)
		if (s->kind[i] != EXPLAINED_NEVER && s->scratch[i] >= cause_least_share * s->explained[cause] &&
			explained_is_proven(s, &s->diff->functions[i].total) && cause_rank_of(s, i) == CAUSE_PART &&
			(leaf == PROFILE_NONE || is_deeper(s, i, leaf)))
			leaf = i;
	if (leaf == PROFILE_NONE) {
		sum_within(s, cause, true);
		for (uint32_t i = 0; i < s->diff->function_count; i++)
			if (s->kind[i] != EXPLAINED_NEVER && s->scratch[i] >= cause_least_leaf * s->explained[cause] &&
				(leaf == PROFILE_NONE || s->scratch[i] > s->scratch[leaf]))
				leaf = i;
	}
	if (leaf != PROFILE_NONE)
		*share = fmin(s->scratch[leaf] / s->explained[cause], 1);
	return leaf;
}

/* Returns the same, if what it calls says where: half of its difference or more is in one leaf. */
static uint32_t find_with_leaf(struct explained *s, enum explained_kind kind, enum cause_rank rank)
{
	uint32_t found = find_deepest(s, kind, rank);
	double share = 0;

	return found != PROFILE_NONE && find_leaf(s, found, &share) != PROFILE_NONE && share >= cause_least_share
		       ? found
		       : PROFILE_NONE;
}

static uint32_t choose_cause(struct explained *s)
{
	uint32_t found = find_deepest(s, EXPLAINED_USER, CAUSE_PART);

	if (found == PROFILE_NONE)
		found = find_with_leaf(s, EXPLAINED_USER, CAUSE_INNER);
	if (found == PROFILE_NONE)
		found = find_deepest(s, EXPLAINED_LIBRARY, CAUSE_PART);
	if (found == PROFILE_NONE)
		found = find_with_leaf(s, EXPLAINED_USER, CAUSE_TOP);
	return found == PROFILE_NONE ? find_deepest(s, EXPLAINED_SYSTEM, CAUSE_PART) : found;
}

/* ---- Callers ---- */

/*
 * Returns the function from which most of a function's difference is called; PROFILE_NONE: there is no such one. It is
 * that of the nearest callers, each with the weight of what is called from it.
 */
static uint32_t find_caller(struct explained *s, uint32_t callee)
{
	const struct diff *diff = s->diff;
	uint32_t caller = PROFILE_NONE;
	double all = 0;

	memset(s->scratch, 0, diff->function_count * sizeof(*s->scratch));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t above = s->caller[diff->nodes[node].parent];

		if (diff->nodes[node].function != callee || !explained_is_topmost(s, node))
			continue;
		all += explained_weight(s, node);
		if (above != PROFILE_NONE)
			s->scratch[above] += explained_weight(s, node);
	}
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (s->scratch[i] > cause_least_share * all &&
			(caller == PROFILE_NONE || s->scratch[i] > s->scratch[caller]))
			caller = i;
	return caller;
}

static void cause_find_callers(struct explained *s, struct diff_cause *cause)
{
	uint32_t at = cause->function;

	for (size_t level = 0; level < DIFF_CAUSE_CALLERS; level++) {
		at = find_caller(s, at);
		if (at == PROFILE_NONE || at == cause->function || (cause->caller_count > 0 && at == cause->callers[0]))
			return;
		memmove(cause->callers + 1, cause->callers, (DIFF_CAUSE_CALLERS - 1) * sizeof(*cause->callers));
		cause->callers[0] = at;
		cause->caller_count++;
	}
}

/* Returns whether a function without a name is above the node where most of the function's difference is. */
static bool has_nameless_callers(const struct explained *s, uint32_t function)
{
	const struct diff *diff = s->diff;
	uint32_t greatest = 0;

	for (uint32_t node = 1; node < diff->node_count; node++)
		if (diff->nodes[node].function == function && explained_is_topmost(s, node) &&
			(greatest == 0 || explained_weight(s, node) > explained_weight(s, greatest)))
			greatest = node;
	for (uint32_t above = diff->nodes[greatest].parent; greatest != 0 && above != 0;
		above = diff->nodes[above].parent)
		if (explained_has_no_name(diff, &diff->functions[diff->nodes[above].function]))
			return true;
	return false;
}

/* ---- A change that is spread ---- */

static void cause_find_spread(struct explained *s, struct cause *cause)
{
	const struct diff *diff = s->diff;

	memset(s->scratch, 0, diff->function_count * sizeof(*s->scratch));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		double own = explained_own(s, node);
		uint32_t owner = build_owner(s->build, node), function = s->responsible[node];

		if (function == PROFILE_NONE && s->kind[owner] == EXPLAINED_SYSTEM)
			function = owner;
		if (function != PROFILE_NONE)
			s->scratch[function] += own;
	}
	for (size_t rank = 0; rank < CAUSE_SPREAD; rank++) {
		uint32_t greatest = 0;

		for (uint32_t i = 1; i < diff->function_count; i++)
			if (s->scratch[i] > s->scratch[greatest])
				greatest = i;
		if (diff->function_count == 0 || s->scratch[greatest] < cause_least_spread * s->whole)
			return;
		cause->spread[cause->spread_count++] =
			(struct cause_share){ greatest, fmin(s->scratch[greatest] / s->whole, 1) };
		s->scratch[greatest] = 0;
	}
}

/* ---- */

struct diff_cause cause_none(void)
{
	return (struct diff_cause){ .function = PROFILE_NONE, .leaf = PROFILE_NONE };
}

static void cause_search(const struct diff_build *build, enum proven_way way, bool is_measured, struct cause *cause)
{
	CLEANUP(explained_deinit)
	struct explained s = { .build = build, .diff = build->diff, .way = (int)way, .is_measured = is_measured };

	*cause = (struct cause){ .way = way, .named = cause_none() };
	if (way == PROVEN_NEITHER)
		return;
	explained_init(&s);
	cause->is_known = s.is_known;
	if (!(s.whole > 0))
		return;
	cause->named.function = choose_cause(&s);
	if (cause->named.function == PROFILE_NONE) {
		cause_find_spread(&s, cause);
		return;
	}
	cause->named.is_self = is_self_reason(&s, cause->named.function);
	cause->named.share = fmin(s.explained[cause->named.function] / s.whole, 1);
	if (!cause->named.is_self)
		cause->named.leaf = find_leaf(&s, cause->named.function, &cause->leaf_share);
	cause_find_callers(&s, &cause->named);
	cause->has_nameless_callers = cause->named.caller_count == 0 &&
				      s.kind[cause->named.function] == EXPLAINED_SYSTEM &&
				      has_nameless_callers(&s, cause->named.function);
}

void cause_find(const struct diff_build *build, enum proven_way way, struct cause *cause)
{
	cause_search(build, way, false, cause);
}

void cause_find_measured(const struct diff_build *build, struct cause *cause)
{
	cause_search(build, build->diff->total.delta > 0 ? PROVEN_MORE : PROVEN_LESS, true, cause);
}

const struct diff_estimate *cause_estimate(const struct diff *diff, const struct diff_cause *cause, enum proven_way way)
{
	const struct diff_function *f = &diff->functions[cause->function];

	return proven_way_of(f->total.state) != way && cause->is_self ? &f->self : &f->total;
}

void cause_reorder(struct diff_cause *cause, const uint32_t *new_ids)
{
	if (cause->function == PROFILE_NONE)
		return;
	cause->function = new_ids[cause->function];
	for (size_t i = 0; i < cause->caller_count; i++)
		cause->callers[i] = new_ids[cause->callers[i]];
	if (cause->leaf != PROFILE_NONE)
		cause->leaf = new_ids[cause->leaf];
}
