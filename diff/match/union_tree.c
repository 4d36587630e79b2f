/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/union_tree.h"

#include "diff/match/interrupts.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = UINT16_MAX };

/* All nodes' children in one array: those of a node are items[first[node] .. first[node + 1]), sorted by key. */
struct union_tree_child {
	uint32_t rank, node;
};

struct children {
	uint32_t *first;
	struct union_tree_child *items;
};

static void children_deinit(struct children *children)
{
	free(children->first);
	free(children->items);
}

struct union_tree_keyed {
	const char *key;
	uint32_t function;
};

static int compare_keyed(const void *a, const void *b)
{
	const struct union_tree_keyed *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : ORDER(x->function, y->function);
}

/* The functions sorted by key: from rank to function, and back. */
struct union_tree_ranking {
	uint32_t *functions; /* [rank] function of the diff */
	/* [profile function] the rank of its function in the diff; PROFILE_NONE: it occurs in no stack */
	uint32_t *ranks[DIFF_SIDES];
};

static void union_tree_ranking_deinit(struct union_tree_ranking *ranking)
{
	free(ranking->functions);
	for (int side = 0; side < DIFF_SIDES; side++)
		free(ranking->ranks[side]);
}

static void rank_side(
	const struct diff_build *build, enum diff_side side, const uint32_t *ranks, struct union_tree_ranking *ranking)
{
	size_t count = build->profiles[side] ? build->profiles[side]->function_count : 0;

	ranking->ranks[side] = memory_zeroed(count + 1, sizeof(*ranking->ranks[side]));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t function = build_function(build, side, i);

		ranking->ranks[side][i] = function == PROFILE_NONE ? PROFILE_NONE : ranks[function];
	}
}

static void ranking_init(const struct diff_build *build, struct union_tree_ranking *ranking)
{
	const struct diff *diff = build->diff;
	size_t count = diff->function_count;
	CLEANUP(cleanup_free) struct union_tree_keyed *keyed = memory_alloc((count + 1) * sizeof(*keyed));
	CLEANUP(cleanup_free) uint32_t *ranks = memory_alloc((count + 1) * sizeof(*ranks));

	ranking->functions = memory_alloc((count + 1) * sizeof(*ranking->functions));
	for (uint32_t i = 0; i < count; i++)
		keyed[i] = (struct union_tree_keyed){ diff_string(diff, diff->functions[i].key), i };
	qsort(keyed, count, sizeof(*keyed), compare_keyed);
	for (uint32_t i = 0; i < count; i++) {
		ranking->functions[i] = keyed[i].function;
		ranks[keyed[i].function] = i;
	}
	rank_side(build, DIFF_BASE, ranks, ranking);
	rank_side(build, DIFF_HEAD, ranks, ranking);
}

static int union_tree_by_rank(const void *a, const void *b)
{
	const struct union_tree_child *x = a, *y = b;

	return x->rank != y->rank ? ORDER(x->rank, y->rank) : ORDER(x->node, y->node);
}

/* Sorts by insertion: most nodes have few children. */
static void sort_children(struct union_tree_child *items, size_t count)
{
	enum { FEW = 16 };

	if (count > FEW) {
		qsort(items, count, sizeof(*items), union_tree_by_rank);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct union_tree_child child = items[i];
		size_t at = i;

		for (; at > 0 && items[at - 1].rank > child.rank; at--)
			items[at] = items[at - 1];
		items[at] = child;
	}
}

static void children_create(const struct diff_build *build, enum diff_side side,
	const struct union_tree_ranking *ranking, struct children *children)
{
	const struct profile_tree *tree = build->trees[side];
	size_t count = tree ? tree->node_count : 0;

	children->first = memory_zeroed(count + 2, sizeof(*children->first));
	children->items = memory_zeroed(count + 1, sizeof(*children->items));
	/* Starts are shifted by two, so that filling in the children moves each to its final value. */
	for (size_t node = 1; node < count; node++)
		children->first[tree->parents[node] + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		children->first[i] += children->first[i - 1];
	for (uint32_t node = 1; node < count; node++)
		children->items[children->first[tree->parents[node] + 1]++] =
			(struct union_tree_child){ ranking->ranks[side][tree->functions[node]], node };
	for (size_t node = 0; node < count; node++)
		sort_children(
			children->items + children->first[node], children->first[node + 1] - children->first[node]);
}

/* A node whose children are being merged; those above it are open too. */
struct open_node {
	uint32_t node;             /* of the diff */
	uint32_t next[DIFF_SIDES]; /* index in `items` of the next child on that side */
	uint32_t end[DIFF_SIDES];
};

struct merge {
	struct diff_build *build;
	struct children children[DIFF_SIDES];
	struct union_tree_ranking ranking;
	struct open_node *open;
	size_t depth, capacity;
};

static void merge_deinit(struct merge *merge)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		children_deinit(&merge->children[side]);
	union_tree_ranking_deinit(&merge->ranking);
	free(merge->open);
}

static bool allocate_nodes(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	size_t count = 1;

	for (int side = 0; side < DIFF_SIDES; side++)
		count += build->trees[side] ? build->trees[side]->node_count : 0;
	if (count > ARRAY_MAX_IDS)
		return error_set(err, ERROR_LIMIT,
			"the trees of both sides have %zu nodes together, more than a diff can hold", count);
	free(diff->nodes);
	free(build->topmost);
	free(build->owners);
	diff->node_count = 0;
	diff->nodes = memory_alloc(count * sizeof(*diff->nodes));
	build->topmost = memory_alloc(count * sizeof(*build->topmost));
	build->owners = memory_alloc(count * sizeof(*build->owners));
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t nodes = build->trees[side] ? build->trees[side]->node_count : 0;

		free(build->union_nodes[side]);
		build->union_nodes[side] = memory_alloc((nodes + 1) * sizeof(uint32_t));
	}
	return true;
}

/* Appends and opens a node for sides[0] of base and sides[1] of head (PROFILE_NONE: that side has no such node). */
static bool union_emit(struct merge *merge, uint32_t function, const uint32_t sides[DIFF_SIDES], struct error *err)
{
	struct diff *diff = merge->build->diff;
	uint32_t id = (uint32_t)diff->node_count++;
	struct open_node open = { .node = id };

	if (merge->depth > MAX_DEPTH)
		return error_set(err, ERROR_LIMIT,
			"a stack is deeper than %d frames; record with a lower cap on frames", MAX_DEPTH);
	diff->nodes[id] = (struct diff_node){
		.parent = merge->depth ? merge->open[merge->depth - 1].node : PROFILE_NONE,
		.function = function,
		.depth = (uint16_t)merge->depth,
		.ci_low = NAN,
		.ci_high = NAN,
	};
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile_tree *tree = merge->build->trees[side];
		bool there = tree && sides[side] != PROFILE_NONE;

		if (!there)
			continue;
		merge->build->union_nodes[side][sides[side]] = id;
		open.next[side] = merge->children[side].first[sides[side]];
		open.end[side] = merge->children[side].first[sides[side] + 1];
	}
	return ARRAY_APPEND(&merge->open, &merge->capacity, &merge->depth, MAX_DEPTH + 1, err, open);
}

/* Takes the next child of the innermost open node: from one side, or from both if it is the same function. */
static bool union_step(struct merge *merge, struct error *err)
{
	struct diff *diff = merge->build->diff;
	struct open_node *top = &merge->open[merge->depth - 1];
	uint32_t sides[DIFF_SIDES] = { PROFILE_NONE, PROFILE_NONE }, rank[DIFF_SIDES] = { PROFILE_NONE, PROFILE_NONE };
	uint32_t least;

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (top->next[side] < top->end[side])
			rank[side] = merge->children[side].items[top->next[side]].rank;
	}
	least = rank[0] < rank[1] ? rank[0] : rank[1];
	if (least == PROFILE_NONE) {
		diff->nodes[top->node].subtree_end = (uint32_t)diff->node_count;
		merge->depth--;
		return true;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (rank[side] == least)
			sides[side] = merge->children[side].items[top->next[side]++].node;
	}
	return union_emit(merge, merge->ranking.functions[least], sides, err);
}

/* Adds the samples' values to their leaves, then each node's total to its parent, whose id is smaller. */
static void union_tree_sum_values(struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	double *self = memory_zeroed(build->diff->node_count, sizeof(*self)),
	       *total = memory_alloc(build->diff->node_count * sizeof(*total));

	free(build->diff->node_self[side]);
	free(build->diff->node_total[side]);
	build->diff->node_self[side] = self;
	build->diff->node_total[side] = total;
	for (size_t i = 0; profile && i < profile->sample_count; i++) {
		uint32_t node = build->trees[side]->stack_nodes[profile->samples[i].stack];

		self[build->union_nodes[side][node]] += build_value(build, side, i);
	}
	memcpy(total, self, build->diff->node_count * sizeof(*total));
	for (uint32_t node = (uint32_t)build->diff->node_count; node-- > 1;)
		if (interrupts_pass_up(build->diff, node))
			total[build->diff->nodes[node].parent] += total[node];
	build->diff->raw_total[side] = total[0];
}

/* Marks the nodes whose time counts for their function's total: those without an ancestor of the same function. */
static void mark_topmost(struct diff_build *build)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) uint32_t *on_path = memory_zeroed(diff->function_count + 1, sizeof(*on_path));
	CLEANUP(cleanup_free) uint32_t *open = memory_alloc((MAX_DEPTH + 2) * sizeof(*open));
	size_t depth = 0;

	build->topmost[0] = false;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		while (depth > 0 && diff->nodes[open[depth - 1]].subtree_end <= node)
			on_path[diff->nodes[open[--depth]].function]--;
		build->topmost[node] = on_path[diff->nodes[node].function]++ == 0;
		open[depth++] = node;
	}
}

/*
 * An interpreter's frame belongs to the function that it runs: the nearest one above it of the language that it
 * interprets, if only frames of the interpreter are between them. Below other code, such as a C extension that calls
 * the interpreter, and above the first function of the program, such a frame is its own.
 */
void union_tree_find_owners(const struct diff *diff, uint32_t *owners)
{
	owners[0] = 0;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		enum profile_language interprets = diff->functions[diff->nodes[node].function].interprets;
		uint32_t above = owners[diff->nodes[node].parent];

		owners[node] = node;
		if (interprets != PROFILE_LANGUAGE_NATIVE && above != 0 &&
			diff->functions[diff->nodes[above].function].language == interprets)
			owners[node] = above;
	}
}

static void shrink(struct diff *diff)
{
	struct diff_node *nodes = memory_resize(diff->nodes, diff->node_count, sizeof(*nodes));

	if (nodes)
		diff->nodes = nodes;
}

static bool merge_trees(struct diff_build *build, struct error *err)
{
	CLEANUP(merge_deinit) struct merge merge = { .build = build };
	uint32_t roots[DIFF_SIDES];

	ranking_init(build, &merge.ranking);
	if (!allocate_nodes(build, err))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		roots[side] = build->trees[side] ? 0 : PROFILE_NONE;
		children_create(build, (enum diff_side)side, &merge.ranking, &merge.children[side]);
	}
	if (!union_emit(&merge, PROFILE_NONE, roots, err))
		return false;
	while (merge.depth > 0) {
		if (!union_step(&merge, err))
			return false;
	}
	shrink(build->diff);
	return true;
}

bool union_tree_create(struct diff_build *build, struct error *err)
{
	if (!merge_trees(build, err))
		return false;
	interrupts_mark(build);
	union_tree_sum_values(build, DIFF_BASE);
	union_tree_sum_values(build, DIFF_HEAD);
	mark_topmost(build);
	union_tree_find_owners(build->diff, build->owners);
	return true;
}

/* ---- Samples and inlining ---- */

/* A stack's leaf location ends in the function that contains the code: the node of that frame was not inlined. */
static void mark_out_of_line(const struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	const struct profile_tree *tree = build->trees[side];

	for (size_t stack = 1; stack < profile->stack_count; stack++) {
		/* Where inlined frames are left out, a location has the frame of the function that contains the code.
		 */
		uint32_t lines =
			build->cuts[side].inlined ? 1 : profile->locations[profile->stacks[stack].location].line_count;
		uint32_t node = tree->stack_nodes[stack];

		for (uint32_t i = 1; i < lines && node != 0; i++)
			node = tree->parents[node];
		build->diff->nodes[build->union_nodes[side][node]].flags &= (uint8_t)~DIFF_NODE_INLINED;
	}
}

void union_tree_place_samples(struct diff_build *build)
{
	struct diff *diff = build->diff;

	for (size_t node = 1; node < diff->node_count; node++)
		diff->nodes[node].flags |= DIFF_NODE_INLINED;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		if (!profile)
			continue;
		mark_out_of_line(build, (enum diff_side)side);
		diff->sample_nodes[side] = memory_zeroed(profile->sample_count + 1, sizeof(*diff->sample_nodes[side]));
		for (size_t i = 0; i < profile->sample_count; i++) {
			uint32_t node = build->trees[side]->stack_nodes[profile->samples[i].stack];

			diff->sample_nodes[side][i] = build->union_nodes[side][node];
		}
	}
}
