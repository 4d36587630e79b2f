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
	free(around->spread);
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

static size_t surroundings_list(uint32_t function, bool is_callee)
{
	return 2 * (size_t)function + is_callee;
}

/*
 * Counts the edges of each list, which are one of each node as a callee and one as a caller at most, and adds up times.
 * Fills the places at which the lists begin.
 */
static void count_edges(const struct diff_build *build, enum diff_side side, const bool *wanted,
	const struct surroundings_times *times, struct match_surroundings *around)
{
	const struct profile_tree *tree = build->trees[side];
	size_t lists = 2 * build->diff->function_count;
	uint32_t *first = around->first[side], sum = 0;

	for (uint32_t node = 1; node < tree->node_count; node++) {
		uint32_t function = surroundings_function(build, side, node),
			 caller = surroundings_function(build, side, tree->parents[node]);

		if (wanted[function]) {
			around->self[side][function] += times->self[node];
			around->total[side][function] += times->total[node];
			first[surroundings_list(function, false)]++;
		}
		if (caller != PROFILE_NONE && wanted[caller])
			first[surroundings_list(caller, true)]++;
	}
	for (size_t i = 0; i <= lists; i++) {
		uint32_t count = first[i];

		first[i] = sum;
		sum += count;
	}
}

/* Puts the edges into their lists. `ends`: where each list ends so far. */
static void put_edges(const struct diff_build *build, enum diff_side side, const bool *wanted,
	const struct surroundings_times *times, struct surroundings_edge *edges, uint32_t *ends)
{
	const struct profile_tree *tree = build->trees[side];

	for (uint32_t node = 1; node < tree->node_count; node++) {
		uint32_t function = surroundings_function(build, side, node),
			 caller = surroundings_function(build, side, tree->parents[node]);

		if (wanted[function])
			edges[ends[surroundings_list(function, false)]++] =
				(struct surroundings_edge){ caller, times->total[node] };
		if (caller != PROFILE_NONE && wanted[caller])
			edges[ends[surroundings_list(caller, true)]++] =
				(struct surroundings_edge){ function, times->total[node] };
	}
}

/*
 * Adds up a list's edges to the same neighbour, and makes shares of their times. Returns how many are left, at `to`.
 * places: [neighbour + 1] scratch; one that is no place of an edge from `to` to the same neighbour is none of this
 * list.
 */
static uint32_t sum_edges(struct surroundings_edge *edges, uint32_t from, uint32_t end, uint32_t to, uint32_t *places)
{
	uint32_t first = to;
	double sum = 0;

	for (uint32_t i = from; i < end; i++) {
		struct surroundings_edge edge = edges[i];
		uint32_t *place = &places[edge.neighbour + 1];

		sum += edge.share;
		if (*place >= first && *place < to && edges[*place].neighbour == edge.neighbour) {
			edges[*place].share += edge.share;
		} else {
			*place = to;
			edges[to++] = edge;
		}
	}
	for (uint32_t i = first; i < to; i++)
		edges[i].share = sum > 0 ? edges[i].share / sum : 0;
	return to - first;
}

static void find_side(
	const struct diff_build *build, enum diff_side side, const bool *wanted, struct match_surroundings *around)
{
	CLEANUP(surroundings_times_deinit) struct surroundings_times times = { 0 };
	size_t functions = build->diff->function_count, lists = 2 * functions;
	CLEANUP(cleanup_free) uint32_t *ends = memory_alloc((lists + 1) * sizeof(*ends));
	CLEANUP(cleanup_free) uint32_t *places = memory_zeroed(functions + 1, sizeof(*places));
	uint32_t *first = memory_zeroed(lists + 1, sizeof(*first)), used = 0;

	surroundings_sum_times(build, side, &times);
	around->first[side] = first;
	around->self[side] = memory_zeroed(functions + 1, sizeof(*around->self[side]));
	around->total[side] = memory_zeroed(functions + 1, sizeof(*around->total[side]));
	count_edges(build, side, wanted, &times, around);
	around->edges[side] = memory_alloc(((size_t)first[lists] + 1) * sizeof(*around->edges[side]));
	memcpy(ends, first, (lists + 1) * sizeof(*ends));
	put_edges(build, side, wanted, &times, around->edges[side], ends);
	for (size_t i = 0; i < lists; i++) {
		uint32_t from = first[i];

		first[i] = used;
		used += sum_edges(around->edges[side], from, ends[i], used, places);
	}
	first[lists] = used;
}

struct edge_list {
	const struct surroundings_edge *edges;
	size_t count;
};

static struct edge_list list_of(
	const struct match_surroundings *around, enum diff_side side, uint32_t function, bool is_callee)
{
	const uint32_t *first = &around->first[side][surroundings_list(function, is_callee)];

	return (struct edge_list){ around->edges[side] + first[0], first[1] - first[0] };
}

static double spread_of(struct edge_list list)
{
	double spread = 0;

	for (size_t i = 0; i < list.count; i++)
		spread += sqrt(list.edges[i].share * (1 - list.edges[i].share));
	return spread;
}

void surroundings_find(const struct diff_build *build, const bool *wanted, struct match_surroundings *around)
{
	size_t count = build->diff->function_count;

	find_side(build, DIFF_BASE, wanted, around);
	find_side(build, DIFF_HEAD, wanted, around);
	around->marks = memory_zeroed(2 * count + 3, sizeof(*around->marks));
	around->spread = memory_zeroed(count + 1, sizeof(*around->spread));
	for (uint32_t i = 0; i < count; i++)
		around->spread[i] = fmax(spread_of(list_of(around, DIFF_BASE, i, false)),
			spread_of(list_of(around, DIFF_BASE, i, true)));
}

/* ---- Comparing ---- */

static uint32_t surroundings_label(const uint32_t *labels, const struct surroundings_edge *edge)
{
	return edge->neighbour == PROFILE_NONE ? 0 : labels[edge->neighbour] + 1;
}

/* Returns the sum over labels of the lesser of both shares. */
static double overlap(struct edge_list base, struct edge_list head, const uint32_t *labels, double *marks)
{
	double common = 0;

	for (size_t i = 0; i < base.count; i++)
		marks[surroundings_label(labels, &base.edges[i])] += base.edges[i].share;
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
static double chance_of(
	const struct diff_build *build, const struct match_surroundings *around, uint32_t base, uint32_t head)
{
	static const double mean_deviation = 0.7978845608; /* sqrt(2 / pi) */
	double counts[DIFF_SIDES] = { build_samples(build, DIFF_BASE, around->total[DIFF_BASE][base]),
		build_samples(build, DIFF_HEAD, around->total[DIFF_HEAD][head]) };
	double part = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		part += counts[side] > 0 && isfinite(counts[side]) ? 1 / counts[side] : 0;
	return mean_deviation / 2 * around->spread[base] * sqrt(part);
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

	likeness.callers = overlap(list_of(around, DIFF_BASE, base, false), list_of(around, DIFF_HEAD, head, false),
		labels, around->marks);
	if (callees[DIFF_BASE].count > 0 || callees[DIFF_HEAD].count > 0)
		likeness.callees = overlap(callees[DIFF_BASE], callees[DIFF_HEAD], labels, around->marks);
	likeness.noise = chance_of(build, around, base, head);
	likeness.is_substantial = build_samples(build, DIFF_BASE, around->total[DIFF_BASE][base]) >= enough &&
				  build_samples(build, DIFF_HEAD, around->total[DIFF_HEAD][head]) >= enough;
	likeness.calls_much = around->self[DIFF_BASE][base] < most * around->total[DIFF_BASE][base] &&
			      around->self[DIFF_HEAD][head] < most * around->total[DIFF_HEAD][head];
	return likeness;
}

double surroundings_largest_callee(const struct match_surroundings *around, uint32_t base, uint32_t head)
{
	return fmax(largest_share(list_of(around, DIFF_BASE, base, true)),
		largest_share(list_of(around, DIFF_HEAD, head, true)));
}
