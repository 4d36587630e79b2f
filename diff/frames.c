/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/frames.h"

#include <math.h>

/* A total is moved when less of its difference than this is its own or its callees'. */
static const double max_genuine_share = 0.5;

/* Wrappers of wrappers: each round sees through one more. */
enum { MAX_ROUNDS = 8 };

/* Time that `callee` takes below `caller`, head less base, scaled. */
struct edge {
	uint32_t caller, callee;
	double delta;
};

struct edges {
	struct edge *items;
	size_t count, capacity;
	struct hash_map index;
};

static void edges_deinit(struct edges *edges)
{
	free(edges->items);
	hash_map_deinit(&edges->index);
}

static bool is_candidate(const struct diff_function *f)
{
	return diff_state_is_difference((enum diff_state)f->total.state) &&
	       !diff_state_is_difference((enum diff_state)f->self.state);
}

static bool collect_edges(const struct diff_build *build, const bool *is_frame, struct edges *edges, struct error *err)
{
	const struct diff *diff = build->diff;

	for (uint32_t n = 1; n < diff->node_count; n++) {
		uint32_t parent = diff->nodes[n].parent, key[2] = { diff->nodes[parent].function, diff->nodes[n].function }, *slot;
		bool added;

		if (parent == 0 || key[0] == key[1] || !is_frame[key[0]] || !build->topmost[parent])
			continue;
		if (!hash_map_add(&edges->index, key, (uint32_t)edges->count, &slot, &added, err))
			return false;
		if (added) {
			if (!ARRAY_RESERVE(&edges->items, &edges->capacity, edges->count + 1, ARRAY_MAX_IDS, err))
				return false;
			edges->items[edges->count++] = (struct edge){ key[0], key[1], 0 };
		}
		edges->items[*slot].delta += diff->node_total[DIFF_HEAD][n] * diff->scale.factor - diff->node_total[DIFF_BASE][n];
	}
	return true;
}

/* As much of `part` as `whole` accounts for. */
static double within(double part, double whole)
{
	if (part * whole <= 0)
		return 0;
	return fabs(part) < fabs(whole) ? part : whole;
}

/* [function] what of its total's difference is its own or its callees'. True when a total was found to have moved. */
static bool mark_round(struct diff *diff, const struct edges *edges, double *genuine)
{
	bool any = false;

	for (size_t i = 0; i < diff->function_count; i++)
		if (is_candidate(&diff->functions[i]))
			genuine[i] = diff->functions[i].self.delta;
	for (size_t i = 0; i < edges->count; i++) {
		const struct edge *edge = &edges->items[i];
		const struct diff_function *callee = &diff->functions[edge->callee];
		bool moved = callee->total.state == DIFF_STATE_MOVED;

		if (is_candidate(&diff->functions[edge->caller]))
			genuine[edge->caller] += within(edge->delta, moved ? genuine[edge->callee] : callee->total.delta);
	}
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (!is_candidate(f) || fabs(within(genuine[i], f->total.delta)) >= max_genuine_share * fabs(f->total.delta))
			continue;
		f->total.state = DIFF_STATE_MOVED;
		any = true;
	}
	return any;
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

bool frames_link(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	CLEANUP(edges_deinit) struct edges edges = { 0 };
	CLEANUP(cleanup_free) double *genuine = calloc(diff->function_count + 1, sizeof(*genuine));
	CLEANUP(cleanup_free) bool *is_frame = calloc(diff->function_count + 1, sizeof(*is_frame));
	CLEANUP(cleanup_free) bool *moved = calloc(diff->node_count + 1, sizeof(*moved));
	CLEANUP(cleanup_free) bool *beside = calloc(diff->node_count + 1, sizeof(*beside));
	bool any = false;
	int rounds = 0;

	if (!genuine || !is_frame || !moved || !beside)
		return error_set_memory(err);
	hash_map_init(&edges.index, 2 * sizeof(uint32_t));
	for (size_t i = 0; i < diff->function_count; i++)
		any |= is_frame[i] = is_candidate(&diff->functions[i]);
	if (!any)
		return true;
	if (!collect_edges(build, is_frame, &edges, err))
		return false;
	while (rounds < MAX_ROUNDS && mark_round(diff, &edges, genuine))
		rounds++;
	if (rounds == 0)
		return true;
	for (size_t i = 0; i < diff->function_count; i++)
		is_frame[i] = is_frame[i] && diff->functions[i].total.state == DIFF_STATE_MOVED;
	mark_nodes(diff, is_frame, moved, beside);
	return true;
}
