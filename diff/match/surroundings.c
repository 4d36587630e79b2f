/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/surroundings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void surroundings_deinit(struct match_surroundings *around)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(around->edges[side]);
		free(around->first[side]);
		free(around->self[side]);
		free(around->total[side]);
	}
	free(around->marks);
}

/* ---- Finding ---- */

/* The raw time of each of a tree's nodes, by itself and with all below it. */
struct surroundings_times {
	double *self, *total; /* owned; [tree node] */
};

static void surroundings_times_deinit(struct surroundings_times *times)
{
	free(times->self);
	free(times->total);
}

static void surroundings_sum_times(
	const struct diff_build *build, enum diff_side side, struct surroundings_times *times)
{
	const struct profile *profile = build->profiles[side];
	const struct profile_tree *tree = build->trees[side];

	times->self = memory_zeroed(tree->node_count, sizeof(*times->self));
	times->total = memory_alloc(tree->node_count * sizeof(*times->total));
	for (size_t i = 0; i < profile->sample_count; i++)
		times->self[tree->stack_nodes[profile->samples[i].stack]] += build_value(build, side, i);
	memcpy(times->total, times->self, tree->node_count * sizeof(*times->total));
	/* A parent's id is smaller. */
	for (size_t node = tree->node_count; node-- > 1;)
		times->total[tree->parents[node]] += times->total[node];
}

static uint32_t surroundings_function(const struct diff_build *build, enum diff_side side, uint32_t node)
{
	const struct profile_tree *tree = build->trees[side];

	return node == 0 ? PROFILE_NONE : build->function_ids[side][tree->functions[node]];
}

static int surroundings_compare_edges(const void *a, const void *b)
{
	const struct surroundings_edge *x = a, *y = b;

	if (x->function != y->function)
		return ORDER(x->function, y->function);
	if (x->is_callee != y->is_callee)
		return x->is_callee ? 1 : -1;
	return ORDER(x->neighbour, y->neighbour);
}

/* Appends the edges of a tree's nodes, of which each has one as a callee and one as a caller at most. */
static size_t list_edges(const struct diff_build *build, enum diff_side side, const bool *wanted,
	const struct surroundings_times *times, struct match_surroundings *around)
{
	const struct profile_tree *tree = build->trees[side];
	struct surroundings_edge *edges = around->edges[side];
	size_t count = 0;

	for (uint32_t node = 1; node < tree->node_count; node++) {
		uint32_t function = surroundings_function(build, side, node),
			 caller = surroundings_function(build, side, tree->parents[node]);

		if (wanted[function]) {
			around->self[side][function] += times->self[node];
			around->total[side][function] += times->total[node];
			edges[count++] = (struct surroundings_edge){ function, caller, false, times->total[node] };
		}
		if (caller != PROFILE_NONE && wanted[caller])
			edges[count++] = (struct surroundings_edge){ caller, function, true, times->total[node] };
	}
	return count;
}

/* Adds up edges between the same functions, and makes shares of their times. */
static void sum_edges(struct match_surroundings *around, enum diff_side side)
{
	struct surroundings_edge *edges = around->edges[side];
	size_t count = 0;

	for (size_t i = 0; i < around->edge_count[side]; i++) {
		if (count > 0 && surroundings_compare_edges(&edges[count - 1], &edges[i]) == 0)
			edges[count - 1].share += edges[i].share;
		else
			edges[count++] = edges[i];
	}
	around->edge_count[side] = count;
	for (size_t from = 0, to; from < count; from = to) {
		double sum = 0;

		for (to = from; to < count && edges[to].function == edges[from].function &&
				edges[to].is_callee == edges[from].is_callee;
			to++)
			sum += edges[to].share;
		for (size_t i = from; i < to; i++)
			edges[i].share = sum > 0 ? edges[i].share / sum : 0;
	}
}

static void index_edges(struct match_surroundings *around, enum diff_side side, size_t functions)
{
	size_t at = 0;

	for (size_t function = 0; function <= functions; function++) {
		while (at < around->edge_count[side] && around->edges[side][at].function < function)
			at++;
		around->first[side][function] = (uint32_t)at;
	}
}

static void find_side(
	const struct diff_build *build, enum diff_side side, const bool *wanted, struct match_surroundings *around)
{
	CLEANUP(surroundings_times_deinit) struct surroundings_times times = { 0 };
	size_t functions = build->diff->function_count;

	surroundings_sum_times(build, side, &times);
	around->edges[side] = memory_zeroed(2 * build->trees[side]->node_count, sizeof(*around->edges[side]));
	around->first[side] = memory_zeroed(functions + 1, sizeof(*around->first[side]));
	around->self[side] = memory_zeroed(functions + 1, sizeof(*around->self[side]));
	around->total[side] = memory_zeroed(functions + 1, sizeof(*around->total[side]));
	around->edge_count[side] = list_edges(build, side, wanted, &times, around);
	qsort(around->edges[side], around->edge_count[side], sizeof(*around->edges[side]), surroundings_compare_edges);
	sum_edges(around, side);
	index_edges(around, side, functions);
}

void surroundings_find(const struct diff_build *build, const bool *wanted, struct match_surroundings *around)
{
	find_side(build, DIFF_BASE, wanted, around);
	find_side(build, DIFF_HEAD, wanted, around);
	around->marks = memory_zeroed(2 * build->diff->function_count + 3, sizeof(*around->marks));
}

/* ---- Comparing ---- */

struct edge_list {
	const struct surroundings_edge *edges;
	size_t count;
};

static struct edge_list list_of(
	const struct match_surroundings *around, enum diff_side side, uint32_t function, bool is_callee)
{
	const struct surroundings_edge *edge = around->edges[side] + around->first[side][function],
				       *end = around->edges[side] + around->first[side][function + 1];
	struct edge_list list = { edge, 0 };

	for (; edge < end && edge->is_callee != is_callee; edge++)
		list.edges = edge + 1;
	for (; edge < end && edge->is_callee == is_callee; edge++)
		list.count++;
	return list;
}

static uint32_t surroundings_label(const uint32_t *labels, const struct surroundings_edge *edge)
{
	return edge->neighbour == PROFILE_NONE ? 0 : labels[edge->neighbour] + 1;
}

/* Returns the sum over labels of the lesser of both shares; `*spread` is that of sqrt(p (1 - p)). */
static double overlap(
	struct edge_list base, struct edge_list head, const uint32_t *labels, double *marks, double *spread)
{
	double common = 0;

	*spread = 0;
	for (size_t i = 0; i < base.count; i++) {
		marks[surroundings_label(labels, &base.edges[i])] += base.edges[i].share;
		*spread += sqrt(base.edges[i].share * (1 - base.edges[i].share));
	}
	for (size_t i = 0; i < head.count; i++) {
		double *mark = &marks[surroundings_label(labels, &head.edges[i])];
		double both = fmin(*mark, head.edges[i].share);

		common += both;
		*mark -= both;
	}
	for (size_t i = 0; i < base.count; i++)
		marks[surroundings_label(labels, &base.edges[i])] = 0;
	return common;
}

/*
 * Returns the mean loss of overlap by chance: two samples of one distribution differ by sqrt(2/pi) of the standard
 * deviation of the difference in each of its parts, and half of the sum of these is lost.
 */
static double chance_of(const struct diff_build *build, const struct match_surroundings *around, uint32_t base,
	uint32_t head, double spread)
{
	static const double mean_deviation = 0.7978845608; /* sqrt(2 / pi) */
	double counts[DIFF_SIDES] = { build_samples(build, DIFF_BASE, around->total[DIFF_BASE][base]),
		build_samples(build, DIFF_HEAD, around->total[DIFF_HEAD][head]) };
	double part = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		part += counts[side] > 0 && isfinite(counts[side]) ? 1 / counts[side] : 0;
	return mean_deviation / 2 * spread * sqrt(part);
}

static double largest_share(struct edge_list list)
{
	double largest = 0;

	for (size_t i = 0; i < list.count; i++)
		largest = fmax(largest, list.edges[i].share);
	return largest;
}

struct likeness surroundings_compare(const struct diff_build *build, const struct match_surroundings *around,
	const uint32_t *labels, uint32_t base, uint32_t head)
{
	static const double most = 0.5, enough = 10;
	struct edge_list callees[DIFF_SIDES] = { list_of(around, DIFF_BASE, base, true),
		list_of(around, DIFF_HEAD, head, true) };
	struct likeness likeness = { .callees = 1 };
	double by_callers, by_callees = 0;

	likeness.callers = overlap(list_of(around, DIFF_BASE, base, false), list_of(around, DIFF_HEAD, head, false),
		labels, around->marks, &by_callers);
	if (callees[DIFF_BASE].count > 0 || callees[DIFF_HEAD].count > 0)
		likeness.callees = overlap(callees[DIFF_BASE], callees[DIFF_HEAD], labels, around->marks, &by_callees);
	likeness.largest_callee = fmax(largest_share(callees[DIFF_BASE]), largest_share(callees[DIFF_HEAD]));
	likeness.noise = chance_of(build, around, base, head, fmax(by_callers, by_callees));
	likeness.is_substantial = build_samples(build, DIFF_BASE, around->total[DIFF_BASE][base]) >= enough &&
				  build_samples(build, DIFF_HEAD, around->total[DIFF_HEAD][head]) >= enough;
	likeness.calls_much = around->self[DIFF_BASE][base] < most * around->total[DIFF_BASE][base] &&
			      around->self[DIFF_HEAD][head] < most * around->total[DIFF_HEAD][head];
	return likeness;
}
