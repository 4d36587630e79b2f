/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/frames.h"

#include <math.h>

/* Nodes that are walked at most: of thousands of frames above each other that all differ, the rest stays as it is. */
static const uint64_t max_visits = 100000000;

static bool is_candidate(const struct diff_function *f)
{
	return diff_state_is_difference((enum diff_state)f->total.state) &&
	       !diff_state_is_difference((enum diff_state)f->self.state);
}

/* As much of `part` as `whole` accounts for. */
static double within(double part, double whole)
{
	if (part * whole <= 0)
		return 0;
	return fabs(part) < fabs(whole) ? part : whole;
}

/* The topmost nodes of each function that is asked about, one after the other. */
struct node_lists {
	uint32_t *first; /* [function] PROFILE_NONE: it has none */
	uint32_t *next;  /* [node] */
	uint64_t visits;
};

static void list_nodes(const struct diff_build *build, const bool *is_frame, struct node_lists *lists)
{
	const struct diff *diff = build->diff;

	for (size_t i = 0; i < diff->function_count; i++)
		lists->first[i] = PROFILE_NONE;
	for (uint32_t n = 1; n < diff->node_count; n++) {
		uint32_t function = diff->nodes[n].function;

		if (!is_frame[function] || !build->topmost[n])
			continue;
		lists->next[n] = lists->first[function];
		lists->first[function] = n;
	}
}

/*
 * What of a function's difference, itself and below it, its program has more (or less) of: the rest went on elsewhere before.
 * `local` is zero before and after.
 */
static double genuine(const struct diff *diff, struct node_lists *lists, uint32_t function, double *local)
{
	double sum = 0;

	for (uint32_t top = lists->first[function]; top != PROFILE_NONE; top = lists->next[top]) {
		lists->visits += diff->nodes[top].subtree_end - top;
		for (uint32_t n = top; n < diff->nodes[top].subtree_end; n++)
			if (!(diff->nodes[n].flags & DIFF_NODE_INTERRUPT))
				local[diff->nodes[n].function] +=
					diff->node_self[DIFF_HEAD][n] * diff->scale.factor - diff->node_self[DIFF_BASE][n];
	}
	for (uint32_t top = lists->first[function]; top != PROFILE_NONE; top = lists->next[top]) {
		for (uint32_t n = top; n < diff->nodes[top].subtree_end; n++) {
			uint32_t f = diff->nodes[n].function;

			sum += within(local[f], diff->functions[f].self.delta);
			local[f] = 0;
		}
	}
	return sum;
}

/* What hangs elsewhere because a frame above it came or went: below such a frame, or beside it where it is not there. */
static void mark_nodes(struct diff *diff, const bool *is_frame, bool *moved, bool *beside)
{
	for (uint32_t n = 1; n < diff->node_count; n++)
		if (is_frame[diff->nodes[n].function])
			beside[diff->nodes[n].parent] = true;
	for (uint32_t n = 1; n < diff->node_count; n++) {
		struct diff_node *node = &diff->nodes[n];
		enum diff_state total = diff->functions[node->function].total.state;
		bool one_sided = !(diff->node_total[DIFF_BASE][n] > 0) || !(diff->node_total[DIFF_HEAD][n] > 0);

		moved[n] = is_frame[node->function] || moved[node->parent] || (beside[node->parent] && one_sided);
		if (moved[n] && diff_state_is_difference((enum diff_state)node->state) && !diff_state_is_difference(total))
			node->state = DIFF_STATE_MOVED;
	}
}

/*
 * What functions without a proven difference gain and lose against each other, in parts of the whole: little in long recordings,
 * most in those of few samples.
 */
static double exchanged_share(const struct diff *diff)
{
	double gained = 0, lost = 0;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_estimate *self = &diff->functions[i].self;

		if (diff_state_is_difference(self->state))
			continue;
		gained += fmax(self->delta, 0);
		lost += fmax(-self->delta, 0);
	}
	return fmin(gained, lost) / fmax(diff->total.base, diff->total.head);
}

/*
 * A total that moved: less than half of its difference is what it or its callees took more or less of. As much as functions
 * exchange may be chance, so that it takes half of the rest as well.
 */
static bool has_moved(const struct diff *diff, struct node_lists *lists, uint32_t function, double *local, double exchanged)
{
	double delta = diff->functions[function].total.delta;

	return fabs(within(genuine(diff, lists, function, local), delta)) < (1 + exchanged) / 2 * fabs(delta);
}

bool frames_link(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) uint32_t *first = malloc((diff->function_count + 1) * sizeof(*first));
	CLEANUP(cleanup_free) uint32_t *next = malloc((diff->node_count + 1) * sizeof(*next));
	CLEANUP(cleanup_free) double *local = calloc(diff->function_count + 1, sizeof(*local));
	CLEANUP(cleanup_free) bool *is_frame = calloc(diff->function_count + 1, sizeof(*is_frame));
	CLEANUP(cleanup_free) bool *moved = calloc(diff->node_count + 1, sizeof(*moved));
	CLEANUP(cleanup_free) bool *beside = calloc(diff->node_count + 1, sizeof(*beside));
	struct node_lists lists = { first, next, 0 };
	bool any = false, any_moved = false;
	double exchanged;

	if (!first || !next || !local || !is_frame || !moved || !beside)
		return error_set_memory(err);
	for (size_t i = 0; i < diff->function_count; i++)
		any |= is_frame[i] = is_candidate(&diff->functions[i]);
	if (!any)
		return true;
	list_nodes(build, is_frame, &lists);
	exchanged = exchanged_share(diff);
	for (uint32_t i = 0; i < diff->function_count; i++) {
		is_frame[i] = is_frame[i] && lists.visits < max_visits && has_moved(diff, &lists, i, local, exchanged);
		if (is_frame[i])
			diff->functions[i].total.state = DIFF_STATE_MOVED;
		any_moved |= is_frame[i];
	}
	if (any_moved)
		mark_nodes(diff, is_frame, moved, beside);
	return true;
}
