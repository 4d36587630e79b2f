/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/moved.h"

#include "diff/match/align.h"
#include "diff/match/code.h"
#include "diff/match/constants.h"
#include "diff/match/surroundings.h"

#include <math.h>
#include <string.h>

/* ---- Renames: a removed and an added function at the same place ---- */

enum { MAX_CANDIDATES = 16, MAX_PAIRS = 1 << 16, MAX_NAME = 256 };

struct moved_pair {
	uint32_t base, head;
	bool is_rename;
};

struct renames {
	const struct diff_build *build;
	struct moved_pair *items;
	size_t count, capacity;
	struct hash_map index;
	struct match_surroundings around;
	uint32_t *labels; /* owned: [function] the one that it was merged into */
	uint32_t *found;  /* owned: [function] how many pairs of it are renames */
};

static void renames_deinit(struct renames *renames)
{
	free(renames->items);
	hash_map_deinit(&renames->index);
	surroundings_deinit(&renames->around);
	free(renames->labels);
	free(renames->found);
}

static bool near(double base, double head, double tolerance, double sample)
{
	double noise = moved_sigmas * sqrt((base + head) * sample);

	return fabs(base - head) <= fmax(base, head) * tolerance + noise;
}

static void renames_add(struct renames *renames, uint32_t base, uint32_t head)
{
	uint32_t key[2] = { base, head };
	bool added;

	if (renames->count >= MAX_PAIRS)
		return;
	(void)hash_map_enter(&renames->index, key, (uint32_t)renames->count, &added);
	if (added)
		ARRAY_PUSH(&renames->items, &renames->capacity, &renames->count,
			(struct moved_pair){ .base = base, .head = head });
}

/* Children of one parent whose functions occur on one side only. */
struct moved_candidates {
	uint32_t nodes[DIFF_SIDES][MAX_CANDIDATES];
	size_t count[DIFF_SIDES];
};

static bool moved_find_candidates(const struct diff_build *build, uint32_t parent, struct moved_candidates *found)
{
	const struct diff *diff = build->diff;

	found->count[0] = found->count[1] = 0;
	for (uint32_t n = parent + 1; n < diff->nodes[parent].subtree_end; n = diff->nodes[n].subtree_end) {
		for (int side = 0; side < DIFF_SIDES; side++) {
			if (!align_only_on(build, diff->nodes[n].function, (enum diff_side)side) ||
				diff->node_total[side][n] < moved_min_samples * build->sample_weight[side])
				continue;
			if (found->count[side] == MAX_CANDIDATES)
				return false;
			found->nodes[side][found->count[side]++] = n;
		}
	}
	return found->count[0] > 0 && found->count[1] > 0;
}

static void collect_pairs(struct renames *renames)
{
	const struct diff *diff = renames->build->diff;
	struct moved_candidates found;

	for (uint32_t parent = 0; parent < diff->node_count; parent++) {
		if (!moved_find_candidates(renames->build, parent, &found))
			continue;
		for (size_t b = 0; b < found.count[DIFF_BASE]; b++) {
			for (size_t h = 0; h < found.count[DIFF_HEAD]; h++)
				renames_add(renames, diff->nodes[found.nodes[DIFF_BASE][b]].function,
					diff->nodes[found.nodes[DIFF_HEAD][h]].function);
		}
	}
}

/* Copies the name without module and arguments. */
static size_t bare_name(const char *key, char *out)
{
	size_t size = strcspn(key, "(`");

	size = size < MAX_NAME ? size : MAX_NAME - 1;
	memcpy(out, key, size);
	out[size] = '\0';
	return size;
}

/* Twice the length of the longest common subsequence, divided by the sum of both lengths. */
static double name_similarity(const char *a_key, const char *b_key)
{
	char a[MAX_NAME], b[MAX_NAME];
	size_t a_size = bare_name(a_key, a), b_size = bare_name(b_key, b);
	uint16_t rows[2][MAX_NAME + 1] = { { 0 } };

	if (a_size == 0 || b_size == 0)
		return 0;
	for (size_t i = 1; i <= a_size; i++) {
		const uint16_t *above = rows[(i - 1) & 1];
		uint16_t *row = rows[i & 1];

		row[0] = 0;
		for (size_t j = 1; j <= b_size; j++) {
			uint16_t skip = above[j] > row[j - 1] ? above[j] : row[j - 1];

			row[j] = a[i - 1] == b[j - 1] ? (uint16_t)(above[j - 1] + 1) : skip;
		}
	}
	return 2.0 * rows[a_size & 1][b_size] / (double)(a_size + b_size);
}

/* The larger share of time that either function spends in what it calls. */
static double callee_share(const struct renames *renames, uint32_t base, uint32_t head)
{
	const struct match_surroundings *around = &renames->around;

	return fmax(1 - around->self[DIFF_BASE][base] / around->total[DIFF_BASE][base],
		1 - around->self[DIFF_HEAD][head] / around->total[DIFF_HEAD][head]);
}

/* Returns whether both call the same functions: a few identical callees are as good as many similar ones. */
static bool calls_the_same(const struct renames *renames, const struct moved_pair *pair, struct likeness likeness)
{
	const struct diff_build *build = renames->build;
	double below = callee_share(renames, pair->base, pair->head);

	if (surroundings_largest_callee(&renames->around, pair->base, pair->head) > moved_most_of_one_callee)
		return false;
	if (below >= moved_leaf_share)
		return likeness.callees >= moved_min_callees;
	/* Where nobody counted samples, functions that call nothing would have the same callees. */
	return below > 0 && likeness.callees >= moved_min_few_callees &&
	       below * renames->around.total[DIFF_BASE][pair->base] >=
		       moved_min_samples * build->sample_weight[DIFF_BASE];
}

/* Returns whether two functions may be one by what they are. A PLT stub has the name of the function that it jumps to.
 */
static bool may_be_one(
	const struct diff_build *build, const struct diff_function *base, const struct diff_function *head)
{
	if ((base->name_source == PROFILE_NAME_PLT) != (head->name_source == PROFILE_NAME_PLT))
		return false;
	return base->module == head->module ||
	       strcmp(diff_string(build->diff, base->file), diff_string(build->diff, head->file)) == 0;
}

static void judge_pair(struct renames *renames, struct moved_pair *pair)
{
	const struct diff_build *build = renames->build;
	const struct diff_function *base = &build->diff->functions[pair->base],
				   *head = &build->diff->functions[pair->head];
	struct likeness likeness =
		surroundings_compare(build, &renames->around, renames->labels, pair->base, pair->head);

	if (likeness.callers < moved_min_callers)
		return;
	if (code_is_renamed_inside(build, pair->base, pair->head))
		pair->is_rename = true;
	else if (code_may_be_renamed(build, pair->base, pair->head) && may_be_one(build, base, head))
		pair->is_rename = calls_the_same(renames, pair, likeness) ||
				  (callee_share(renames, pair->base, pair->head) < moved_leaf_share &&
					  name_similarity(diff_string(build->diff, base->key),
						  diff_string(build->diff, head->key)) >= moved_min_name_similarity);
	if (!pair->is_rename)
		return;
	renames->found[pair->base]++;
	renames->found[pair->head]++;
}

/* Returns whether nothing else is as good for either. */
static bool has_no_second(const struct renames *renames, const struct moved_pair *pair)
{
	return renames->found[pair->base] == 1 && renames->found[pair->head] == 1;
}

static bool any_only_on(const struct diff_build *build, enum diff_side side)
{
	for (uint32_t i = 0; i < build->diff->function_count; i++)
		if (align_only_on(build, i, side))
			return true;
	return false;
}

static void judge_pairs(struct renames *renames)
{
	const struct diff_build *build = renames->build;
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) bool *wanted = memory_zeroed(count + 1, sizeof(*wanted));

	renames->labels = memory_zeroed(count + 1, sizeof(*renames->labels));
	renames->found = memory_zeroed(count + 1, sizeof(*renames->found));
	for (size_t i = 0; i < renames->count; i++)
		wanted[renames->items[i].base] = wanted[renames->items[i].head] = true;
	for (uint32_t i = 0; i < count; i++)
		renames->labels[i] = build->redirect[i];
	surroundings_find(build, wanted, &renames->around);
	for (size_t i = 0; i < renames->count; i++)
		judge_pair(renames, &renames->items[i]);
}

void moved_match(struct diff_build *build, size_t *moved)
{
	CLEANUP(renames_deinit) struct renames renames = { .build = build };

	*moved = 0;
	if (!any_only_on(build, DIFF_BASE) || !any_only_on(build, DIFF_HEAD))
		return;
	hash_map_init(&renames.index, 2 * sizeof(uint32_t));
	collect_pairs(&renames);
	if (renames.count == 0)
		return;
	judge_pairs(&renames);
	for (size_t i = 0; i < renames.count; i++) {
		const struct moved_pair *pair = &renames.items[i];

		if (!pair->is_rename || !has_no_second(&renames, pair))
			continue;
		align_merge(build, pair->base, pair->head, DIFF_TIER_PLACE);
		++*moved;
	}
}

/* ---- Inlined, outlined, split: time that changed its frame ---- */

/* The caller in which a one-sided function has most of its time. `time` is its time there, `total` all its time. */
struct transfer {
	uint32_t caller; /* function */
	double time, total;
};

/*
 * Finds the largest caller of every function that occurs on `side` only. A function has few callers, so keeping one
 * candidate with its time, as in a majority vote, suffices.
 */
static bool moved_find_callers(const struct diff_build *build, enum diff_side side, struct transfer *transfers)
{
	const struct diff *diff = build->diff;
	bool any = false;

	for (uint32_t n = 1; n < diff->node_count; n++) {
		uint32_t function = diff->nodes[n].function, parent = diff->nodes[n].parent;
		struct transfer *t = &transfers[function];
		double time = diff->node_total[side][n];

		if (!align_only_on(build, function, side) || !build->topmost[n] || parent == 0)
			continue;
		any = true;
		t->total += time;
		if (t->caller == diff->nodes[parent].function) {
			t->time += time;
		} else if (time > t->time) {
			t->time = time;
			t->caller = diff->nodes[parent].function;
		}
	}
	return any;
}

static bool unproven(enum diff_state state)
{
	return state == DIFF_STATE_SAME || state == DIFF_STATE_UNPROVEN;
}

/*
 * Returns whether the caller's self time changed by the time of the function that came or went, while the caller's
 * total stayed flat.
 */
static bool is_transfer(
	const struct diff_build *build, enum diff_side side, const struct diff_function *f, const struct transfer *t)
{
	const struct diff_function *caller = &build->diff->functions[t->caller];
	double gone = side == DIFF_BASE ? f->self.base : -f->self.head;

	if (f->raw_self[side] < moved_min_samples * build->sample_weight[side])
		return false;
	if (f->tier != DIFF_TIER_ONE_SIDED || f->code == DIFF_CODE_SAME || t->time < moved_min_callers * t->total ||
		fabs(gone) < build_least_effect(build))
		return false;
	/* Inlining and outlining would have changed the caller's code. */
	if (caller->code == DIFF_CODE_SAME)
		return false;
	/* The caller's total must stay the same. */
	if (fabs(caller->total.delta) > moved_flat_share * fabs(gone))
		return false;
	if (!unproven(caller->total.state) || !build->present[DIFF_BASE][t->caller] ||
		!build->present[DIFF_HEAD][t->caller])
		return false;
	if (caller->self.delta * gone <= 0)
		return false;
	return near(fabs(caller->self.delta), fabs(gone), moved_time_tolerance, build->sample_weight[DIFF_BASE]);
}

static void link_side(struct diff_build *build, enum diff_side side, const struct transfer *transfers)
{
	struct diff *diff = build->diff;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i], *caller;

		if (transfers[i].caller == PROFILE_NONE || !is_transfer(build, side, f, &transfers[i]))
			continue;
		caller = &diff->functions[transfers[i].caller];
		f->moved_to = transfers[i].caller;
		f->self.state = f->total.state = DIFF_STATE_MOVED;
		caller->self.state = DIFF_STATE_MOVED;
		if (caller->moved_to == PROFILE_NONE)
			caller->moved_to = i;
	}
}

/* ---- Code compiled at run time ---- */

struct neighbours {
	/* [function] part of its difference that neighbours changed in the other direction make up for */
	double *taken;
	uint32_t *partner; /* [function] the neighbour with the greatest difference; PROFILE_NONE: none */
};

static void moved_meet(const struct diff *diff, uint32_t function, uint32_t neighbour, struct neighbours *n)
{
	double delta = diff->functions[function].self.delta, other = diff->functions[neighbour].self.delta;
	uint32_t *partner = &n->partner[function];

	if (delta * other >= 0)
		return;
	n->taken[function] += fmin(fabs(delta), fabs(other));
	if (*partner == PROFILE_NONE || fabs(other) > fabs(diff->functions[*partner].self.delta))
		*partner = neighbour;
}

/* Finds callers and callees of each function; each pair is counted once. */
static void moved_find_neighbours(const struct diff *diff, struct neighbours *n)
{
	struct hash_map met;

	hash_map_init(&met, 2 * sizeof(uint32_t));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t parent = diff->nodes[node].parent;
		uint32_t key[2] = { diff->nodes[node].function, diff->nodes[parent].function };
		bool added;

		if (parent == 0 || key[0] == key[1] || !build_is_compiled_at_run_time(&diff->functions[key[0]]) ||
			!build_is_compiled_at_run_time(&diff->functions[key[1]]))
			continue;
		(void)hash_map_enter(&met, key, 0, &added);
		if (!added)
			continue;
		moved_meet(diff, key[0], key[1], n);
		moved_meet(diff, key[1], key[0], n);
	}
	hash_map_deinit(&met);
}

static void link_compiled_at_run_time(struct diff_build *build)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) double *taken = memory_zeroed(diff->function_count + 1, sizeof(*taken));
	CLEANUP(cleanup_free) uint32_t *partner = memory_alloc((diff->function_count + 1) * sizeof(*partner));
	struct neighbours neighbours = { taken, partner };

	memset(partner, 0xff, (diff->function_count + 1) * sizeof(*partner));
	moved_find_neighbours(diff, &neighbours);
	for (uint32_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (!diff_state_is_difference(f->self.state) || partner[i] == PROFILE_NONE ||
			taken[i] < moved_min_neighbours_share * fabs(f->self.delta))
			continue;
		f->moved_to = partner[i];
		f->self.state = DIFF_STATE_MOVED;
		if (f->total.state == DIFF_STATE_NEW || f->total.state == DIFF_STATE_GONE)
			f->total.state = DIFF_STATE_MOVED;
	}
}

/*
 * Marks the nodes of functions that moved, and those below them, whose callees are below the caller itself on the other
 * side.
 */
static void moved_mark_nodes(struct diff_build *build, double least)
{
	struct diff *diff = build->diff;
	bool any = false;

	for (size_t i = 0; i < diff->function_count; i++)
		any |= diff->functions[i].moved_to != PROFILE_NONE;
	for (uint32_t n = 1; any && n < diff->node_count; n++) {
		const struct diff_function *f = &diff->functions[diff->nodes[n].function];
		double base = diff->node_total[DIFF_BASE][n],
		       head = diff->node_total[DIFF_HEAD][n] * diff->scale.factor;
		const struct diff_node *parent = &diff->nodes[diff->nodes[n].parent];
		bool below =
			parent->function != PROFILE_NONE && diff->functions[parent->function].moved_to != PROFILE_NONE;
		bool moved = f->tier == DIFF_TIER_ONE_SIDED && f->moved_to != PROFILE_NONE;
		bool one_sided = base <= 0 || head <= 0;

		if (moved || (below && one_sided && unproven(f->total.state) && fabs(base - head) >= least))
			diff->nodes[n].state = DIFF_STATE_MOVED;
	}
}

void moved_link(struct diff_build *build)
{
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) struct transfer *transfers = memory_alloc((count + 1) * sizeof(*transfers));

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!any_only_on(build, (enum diff_side)side))
			continue;
		for (size_t i = 0; i < count; i++)
			transfers[i] = (struct transfer){ .caller = PROFILE_NONE };
		if (moved_find_callers(build, (enum diff_side)side, transfers))
			link_side(build, (enum diff_side)side, transfers);
	}
	link_compiled_at_run_time(build);
	moved_mark_nodes(build, build_least_effect(build));
}
