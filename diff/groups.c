/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares groups of samples: makes them functions, and has these compared as a part of the whole. */
#include "diff/groups.h"

#include "diff/build.h"
#include "diff/match/union_tree.h"
#include "diff/statistics/experiment.h"
#include "diff/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The time of one function in one group, scaled by side. */
struct group_part {
	uint32_t group, function;
	double time[DIFF_SIDES];
};

struct diff_grouping {
	const struct diff *diff;
	const struct profile *const *profiles;
	const struct profile_where *key;
	const struct diff_file_pairs *files;
	struct diff_groups *groups;
	uint32_t *values[DIFF_SIDES]; /* [sample] its group, which is the id of its value; owned */
	bool *left_out[DIFF_SIDES];   /* [sample] it is the machine's; owned */
	uint32_t metric[DIFF_SIDES];  /* value types */
	uint32_t *owners;             /* [node] as build.owners; owned */
	struct group_part *parts;     /* owned; sorted by group once all are there */
	size_t part_count, part_capacity;
	struct hash_map part_ids;
	double *times[DIFF_SIDES]; /* [group] scaled; owned */
	struct mix *mixes;         /* [group] and of all of them behind the last; owned */
};

static void diff_groups_grouping_deinit(struct diff_grouping *g)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(g->values[side]);
		free(g->left_out[side]);
		free(g->times[side]);
	}
	free(g->owners);
	free(g->parts);
	hash_map_deinit(&g->part_ids);
	free(g->mixes);
	diff_groups_destroy(g->groups);
}

void diff_groups_destroy(struct diff_groups *groups)
{
	if (!groups)
		return;
	string_table_destroy(groups->strings);
	free(groups->items);
	free(groups);
}

static void grouping_init(struct diff_grouping *g)
{
	const struct diff *diff = g->diff;

	hash_map_init(&g->part_ids, 2 * sizeof(uint32_t));
	g->groups = memory_zeroed(1, sizeof(*g->groups));
	g->owners = memory_alloc((diff->node_count + 1) * sizeof(*g->owners));
	g->groups->key = profile_selection_key_name(g->key);
	union_tree_find_owners(diff, g->owners);
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = g->profiles[side];

		if (!profile)
			continue;
		g->values[side] = memory_zeroed(profile->sample_count + 1, sizeof(*g->values[side]));
		g->left_out[side] = memory_zeroed(profile->sample_count + 1, sizeof(*g->left_out[side]));
		g->metric[side] =
			profile_find_metric(profile, diff_string(diff, diff->metric), diff_string(diff, diff->unit));
		if (g->metric[side] == PROFILE_NONE)
			g->metric[side] = 0;
	}
	g->groups->strings = string_table_begin((size_t)4 << 30);
}

/* ---- Which sample is in which group ---- */

/*
 * A function, or a module, that has another name in head is one (match/align.h): the diff's functions know. A wait
 * counts to the module of what waits.
 */
static void find_of_functions(struct diff_grouping *g, int side)
{
	const struct diff *diff = g->diff;
	bool by_module = g->key->key == PROFILE_SELECT_MODULE;
	CLEANUP(cleanup_free) uint32_t *found = memory_alloc((diff->function_count + 1) * sizeof(*found));

	memset(found, 0xff, diff->function_count * sizeof(*found));
	for (size_t i = 0; i < g->profiles[side]->sample_count; i++) {
		uint32_t node = diff->sample_nodes[side][i], function;
		const char *name;

		if (by_module && build_is_wait(diff, node))
			node = diff->nodes[node].parent;
		if (node == 0)
			continue;
		function = diff->nodes[g->owners[node]].function;
		name = diff_string(
			diff, by_module ? diff->functions[function].module : diff->functions[function].shown);
		if (found[function] == UINT32_MAX)
			found[function] = string_table_enter(g->groups->strings, name, strlen(name));
		g->values[side][i] = found[function];
	}
}

/* Adds a file of base, or a line in it, as head calls it. */
static bool add_as_in_head(const struct diff_grouping *g, const char *value, uint32_t *group, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);
	size_t bytes = profile_path_bytes(g->key, value);
	const char *path = diff_file_partner(g->files, value, bytes);

	buffer_append_string(&text, path ? path : "");
	buffer_append_string(&text, path ? value + bytes : value);
	if (!buffer_ok(&text, err))
		return false;
	*group = string_table_enter(g->groups->strings, text.data ? text.data : "", text.size);
	return true;
}

static bool find_of_base_files(struct diff_grouping *g, struct error *err)
{
	const struct profile *base = g->profiles[DIFF_BASE];
	CLEANUP(cleanup_free) uint32_t *groups = NULL;
	struct string_table *names = string_table_begin((size_t)4 << 30);
	uint32_t *values = g->values[DIFF_BASE];
	bool ok = profile_find_values(base, g->key, names, values, err);

	groups = memory_zeroed(string_table_count(names) + 1, sizeof(*groups));
	for (uint32_t i = 0; ok && i < string_table_count(names); i++)
		ok = add_as_in_head(g, string_table_get(names, i), &groups[i], err);
	for (size_t i = 0; ok && i < base->sample_count; i++)
		values[i] = groups[values[i]];
	string_table_destroy(names);
	return ok;
}

static bool diff_groups_find_values(struct diff_grouping *g, int side, struct error *err)
{
	if (g->key->key <= PROFILE_SELECT_MODULE) {
		find_of_functions(g, side);
		return true;
	}
	if (side == DIFF_BASE && g->files && profile_key_has_path(g->key))
		return find_of_base_files(g, err);
	return profile_find_values(g->profiles[side], g->key, g->groups->strings, g->values[side], err);
}

static bool diff_groups_find_groups(struct diff_grouping *g, struct error *err)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = g->profiles[side];

		if (!profile)
			continue;
		if (!diff_groups_find_values(g, side, err))
			return false;
		for (size_t i = 0; i < profile->sample_count; i++)
			g->left_out[side][i] =
				g->diff->nodes[g->diff->sample_nodes[side][i]].flags & DIFF_NODE_INTERRUPT;
	}
	return string_table_count(g->groups->strings) > 1 ||
	       profile_refuse_key(g->profiles, DIFF_SIDES, g->key, "--by", err);
}

/* ---- What groups consist of ---- */

static double diff_groups_metric_of(const struct diff_grouping *g, int side, size_t sample)
{
	const struct profile *profile = g->profiles[side];

	return (double)profile->values[sample * profile->value_type_count + g->metric[side]];
}

static void diff_groups_add_part(struct diff_grouping *g, uint32_t group, uint32_t function, int side, double time)
{
	uint32_t key[2] = { group, function }, *id;
	bool added;

	id = hash_map_enter(&g->part_ids, key, (uint32_t)g->part_count, &added);
	if (added) {
		ARRAY_PUSH(&g->parts, &g->part_capacity, &g->part_count,
			(struct group_part){ .group = group, .function = function });
	}
	g->parts[*id].time[side] += time;
}

static void diff_groups_sum_side(struct diff_grouping *g, int side)
{
	const struct diff *diff = g->diff;
	const struct profile *profile = g->profiles[side];
	double factor = side == DIFF_HEAD && diff->sides == DIFF_SIDES ? diff->scale.factor : 1;

	for (size_t i = 0; i < profile->sample_count; i++) {
		double time = diff_groups_metric_of(g, side, i) * factor;
		uint32_t node = diff->sample_nodes[side][i], group = g->values[side][i];

		if (g->left_out[side][i] || !(time > 0))
			continue;
		g->times[side][group] += time;
		if (node != 0)
			diff_groups_add_part(g, group, diff->nodes[g->owners[node]].function, side, time);
	}
}

static int by_group(const void *left, const void *right)
{
	const struct group_part *a = left, *b = right;

	return a->group != b->group ? ORDER(a->group, b->group) : ORDER(a->function, b->function);
}

static void sum_parts(struct diff_grouping *g)
{
	size_t count = string_table_count(g->groups->strings);

	g->mixes = memory_zeroed(count + 1, sizeof(*g->mixes));
	g->times[DIFF_BASE] = memory_zeroed(count + 1, sizeof(*g->times[DIFF_BASE]));
	g->times[DIFF_HEAD] = memory_zeroed(count + 1, sizeof(*g->times[DIFF_HEAD]));
	for (int side = 0; side < DIFF_SIDES; side++)
		if (g->profiles[side])
			diff_groups_sum_side(g, side);
	if (g->part_count > 0)
		qsort(g->parts, g->part_count, sizeof(*g->parts), by_group);
}

/* Finds what each group's time is in, which decides how much it varies. */
static void mix_groups(struct diff_grouping *g)
{
	for (size_t i = 0; i < g->part_count; i++) {
		const struct group_part *part = &g->parts[i];
		const struct diff_function *f = &g->diff->functions[part->function];
		double all = g->times[DIFF_BASE][part->group] + g->times[DIFF_HEAD][part->group],
		       share = (part->time[DIFF_BASE] + part->time[DIFF_HEAD]) / all;
		struct mix *mix = &g->mixes[part->group];

		if (diff_wait_class(g->diff, f) != PROFILE_WAIT_NONE)
			mix->waits += share;
		else if (f->by_tier)
			mix->compiled += share;
		else if (f->code == DIFF_CODE_CHANGED)
			mix->changed += share;
	}
}

/* ---- The comparison ---- */

/* Fills `first` and `groups` of a regrouping: a sample is in the group of its value, if it has one. */
static bool diff_groups_regroup_side(const struct diff_grouping *g, int side, struct profile **made, struct error *err)
{
	const struct profile *profile = g->profiles[side];
	uint32_t count = string_table_count(g->groups->strings), used = 0;
	CLEANUP(cleanup_free) const char **names = memory_alloc((count + 1) * sizeof(*names));
	CLEANUP(cleanup_free) uint32_t *first = memory_alloc((profile->sample_count + 1) * sizeof(*first));
	CLEANUP(cleanup_free) uint32_t *groups = memory_alloc((profile->sample_count + 1) * sizeof(*groups));
	struct profile_regrouping regrouping = { .group_count = count, .rest = DIFF_NO_VALUE };

	for (uint32_t i = 0; i < count; i++)
		names[i] = string_table_get(g->groups->strings, i);
	for (size_t i = 0; i < profile->sample_count; i++) {
		first[i] = used;
		if (g->values[side][i] != 0)
			groups[used++] = g->values[side][i];
	}
	first[profile->sample_count] = used;
	regrouping.names = names;
	regrouping.first = first;
	regrouping.groups = groups;
	regrouping.left_out = g->left_out[side];
	return profile_regroup(profile, &regrouping, made, err);
}

/* Returns the group that a function of the comparison is; UINT32_MAX: it is the frame of a class of waits. */
static uint32_t group_of(const struct diff_groups *groups, const struct diff *compared, const struct diff_function *f)
{
	const char *name = diff_string(compared, f->name);

	if (strcmp(diff_string(compared, f->module), PROFILE_GROUP_MODULE) != 0)
		return UINT32_MAX;
	return strcmp(name, DIFF_NO_VALUE) == 0 ? 0 : string_table_find(groups->strings, name, strlen(name));
}

static bool diff_groups_compare_sides(const struct diff_grouping *g, struct diff **compared, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	const struct diff_mixes mixes = { .names = g->groups->strings, .no_value = DIFF_NO_VALUE, .items = g->mixes };

	return diff_groups_regroup_side(g, DIFF_BASE, &base, err) &&
	       diff_groups_regroup_side(g, DIFF_HEAD, &head, err) &&
	       build_compare_groups((const struct profile *[]){ base, head }, g->diff, &mixes, compared, err);
}

/* ---- Rows ---- */

static void allocate_rows(struct diff_grouping *g)
{
	struct diff_groups *groups = g->groups;
	size_t count = string_table_count(groups->strings);

	groups->items = memory_zeroed(count + 1, sizeof(*groups->items));
	for (uint32_t i = 0; i < count; i++) {
		struct diff_group *group = &groups->items[i];
		const double scaled[DIFF_SIDES] = { g->times[DIFF_BASE][i], g->times[DIFF_HEAD][i] };

		group->value = i;
		group->time = totals_estimate(scaled, 1);
	}
	groups->count = count;
	groups->items[0].value = string_table_enter(groups->strings, DIFF_NO_VALUE, strlen(DIFF_NO_VALUE));
}

static void count_samples(const struct diff_grouping *g)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = g->profiles[side];
		uint32_t counts = profile ? profile_metric(profile, g->metric[side]).counts : PROFILE_NONE;

		for (size_t i = 0; i < g->groups->count && profile && counts == PROFILE_NONE; i++)
			g->groups->items[i].samples[side] = NAN;
		for (size_t i = 0; profile && i < profile->sample_count; i++) {
			struct diff_group *group = &g->groups->items[g->values[side][i]];

			if (g->left_out[side][i] || !(diff_groups_metric_of(g, side, i) > 0))
				continue;
			group->raw[side] += diff_groups_metric_of(g, side, i);
			if (counts != PROFILE_NONE)
				group->samples[side] += (double)profile->values[i * profile->value_type_count + counts];
		}
	}
}

static void diff_groups_take_verdicts(const struct diff_grouping *g, const struct diff *compared)
{
	for (size_t i = 0; i < compared->function_count; i++) {
		uint32_t group = group_of(g->groups, compared, &compared->functions[i]);

		if (group < g->groups->count)
			g->groups->items[group].time = compared->functions[i].total;
	}
}

static double diff_groups_weight_of(const struct diff_grouping *g, const struct group_part *part)
{
	return g->diff->sides == DIFF_SIDES ? fabs(part->time[DIFF_HEAD] - part->time[DIFF_BASE])
					    : part->time[DIFF_HEAD];
}

/* Finds the functions of a group that differ most, by insertion: there are few. */
static void find_top(const struct diff_grouping *g)
{
	double weights[DIFF_GROUP_TOP] = { 0 };

	for (size_t i = 0; i < g->part_count; i++) {
		const struct group_part *part = &g->parts[i];
		struct diff_group *group = &g->groups->items[part->group];
		double weight = diff_groups_weight_of(g, part);
		size_t at = group->top_count;

		while (at > 0 && weights[at - 1] < weight)
			at--;
		if (at == DIFF_GROUP_TOP || !(weight > 0))
			continue;
		group->top_count += group->top_count < DIFF_GROUP_TOP;
		for (size_t k = group->top_count - 1; k > at; k--) {
			group->top[k] = group->top[k - 1];
			weights[k] = weights[k - 1];
		}
		group->top[at] = part->function;
		weights[at] = weight;
	}
}

static int diff_groups_by_size(const void *left, const void *right)
{
	const struct diff_group *a = left, *b = right;
	double of_a = fabs(a->time.delta), of_b = fabs(b->time.delta);

	return of_a != of_b ? ORDER(of_b, of_a) : ORDER(a->value, b->value);
}

/* Groups without time are left out: "(none)" where all samples have a value. */
static void order_rows(struct diff_groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++)
		if (groups->items[i].time.base > 0 || groups->items[i].time.head > 0)
			groups->items[kept++] = groups->items[i];
	groups->count = kept;
	if (kept > 0)
		qsort(groups->items, kept, sizeof(*groups->items), diff_groups_by_size);
}

bool diff_groups_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct profile_where *key, const struct diff_file_pairs *files, struct diff_groups **groups,
	struct error *err)
{
	CLEANUP(diff_groups_grouping_deinit)
	struct diff_grouping g = { .diff = diff, .profiles = profiles, .key = key, .files = files };
	CLEANUP(diff_cleanup) struct diff *compared = NULL;
	bool two_sided = diff->sides == DIFF_SIDES;

	grouping_init(&g);
	if (!diff_groups_find_groups(&g, err))
		return false;
	sum_parts(&g);
	if (two_sided) {
		mix_groups(&g);
		if (!diff_groups_compare_sides(&g, &compared, err))
			return false;
	}
	allocate_rows(&g);
	count_samples(&g);
	if (two_sided)
		diff_groups_take_verdicts(&g, compared);
	find_top(&g);
	order_rows(g.groups);
	*groups = TAKE(g.groups);
	return true;
}
