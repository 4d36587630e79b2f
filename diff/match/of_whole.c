/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/of_whole.h"

#include "diff/match/align.h"
#include "diff/match/surroundings.h"

#include <stdlib.h>
#include <string.h>

/* A function's key on a side, of which the part's table has the text. */
struct of_whole_key {
	uint32_t key, side;
};

/* A function of the part without a partner of its key. */
struct of_whole_member {
	uint32_t whole; /* the function of the whole that it belongs to */
	uint32_t side, function;
};

static void enter_key(
	const struct diff_build *build, struct hash_map *wholes, int side, uint32_t key, uint32_t function)
{
	const struct diff *whole = build->diff->whole;
	struct of_whole_key entry = {
		string_table_find(
			build->diff->strings, diff_string(whole, key), string_table_size(whole->strings, key)),
		(uint32_t)side,
	};
	bool added;

	if (entry.key != UINT32_MAX)
		(void)hash_map_enter(wholes, &entry, function, &added);
}

/* Enters the function of the whole for each key of a side. The first entry of a key holds. */
static void enter_keys(const struct diff_build *build, struct hash_map *wholes)
{
	const struct diff *whole = build->diff->whole;
	/* [function] whether base's key is another one than head's */
	CLEANUP(cleanup_free) bool *is_renumbered = memory_zeroed(whole->function_count + 1, sizeof(*is_renumbered));

	for (size_t i = 0; i < whole->member_count; i++) {
		const struct diff_member *member = &whole->members[i];

		is_renumbered[member->function] |= member->side == DIFF_BASE;
		enter_key(build, wholes, member->side, member->key, member->function);
	}
	for (uint32_t i = 0; i < whole->function_count; i++) {
		const struct diff_function *f = &whole->functions[i];
		bool is_earlier =
			diff_tier_is_rename(f->tier) && f->raw_total[DIFF_BASE] <= 0 && f->raw_total[DIFF_HEAD] <= 0;

		if (f->tier == DIFF_TIER_ONE_SIDED)
			continue;
		if (is_earlier && f->moved_to != PROFILE_NONE)
			enter_key(build, wholes, DIFF_BASE, f->key, f->moved_to);
		else
			enter_key(build, wholes, DIFF_HEAD, f->key, i);
		if (f->tier == DIFF_TIER_SAME && !is_renumbered[i])
			enter_key(build, wholes, DIFF_BASE, f->key, i);
	}
}

static int of_whole_compare(const void *a, const void *b)
{
	const struct of_whole_member *x = a, *y = b;

	if (x->whole != y->whole)
		return ORDER(x->whole, y->whole);
	return x->side != y->side ? ORDER(y->side, x->side) : ORDER(x->function, y->function);
}

/* Lists the functions without a partner that the whole has matched, by its functions, head's first. */
static struct of_whole_member *of_whole_list(const struct diff_build *build, size_t *count)
{
	size_t functions = build->diff->function_count;
	struct of_whole_member *members = memory_alloc((functions + 1) * sizeof(*members));
	struct hash_map wholes;

	*count = 0;
	hash_map_init(&wholes, sizeof(struct of_whole_key));
	enter_keys(build, &wholes);
	for (uint32_t i = 0; i < functions; i++) {
		uint32_t side = build->present[DIFF_BASE][i] ? DIFF_BASE : DIFF_HEAD;
		struct of_whole_key entry = { build->diff->functions[i].key, side };
		uint32_t of = align_only_on(build, i, side) ? hash_map_get(&wholes, &entry) : HASH_MAP_NONE;

		if (of != HASH_MAP_NONE)
			members[(*count)++] = (struct of_whole_member){ of, side, i };
	}
	hash_map_deinit(&wholes);
	qsort(members, *count, sizeof(*members), of_whole_compare);
	return members;
}

/* Makes a group of a group's functions, which is called as in the whole. */
static void merge_of_group(struct diff_build *build, const struct of_whole_member *members, size_t count,
	const struct match_surroundings *around)
{
	const struct diff *whole = build->diff->whole;
	const struct diff_function *of = &whole->functions[members->whole];
	struct diff_function *into = &build->diff->functions[members->function];

	for (size_t i = 0; i < count; i++)
		align_add_to_group(
			build, (enum diff_side)members[i].side, members[i].function, members->function, around);
	if (members[0].side == members[count - 1].side)
		into->tier = DIFF_TIER_ONE_SIDED;
	build_text(build->diff, &into->name, "%s", diff_string(whole, of->name));
	build_text(build->diff, &into->shown_in, "%s", diff_string(whole, of->shown_in));
	into->shown = into->name;
}

static void merge_of_whole(struct diff_build *build, const struct of_whole_member *members, size_t count,
	const struct match_surroundings *around)
{
	const struct diff_function *of = &build->diff->whole->functions[members->whole];
	uint32_t head = members[0].function, base = members[count - 1].function;

	if (of->tier == DIFF_TIER_GROUP) {
		merge_of_group(build, members, count, around);
		return;
	}
	/* The part has the function on one side only. */
	if (members[0].side == members[count - 1].side)
		return;
	align_merge(build, base, head, of->tier);
	if (!diff_tier_is_rename(of->tier) && build->diff->functions[base].key != build->diff->functions[head].key)
		align_add_member(build, DIFF_BASE, base, head, around);
}

void of_whole_match(struct diff_build *build)
{
	CLEANUP(surroundings_deinit) struct match_surroundings around = { 0 };
	size_t count;
	CLEANUP(cleanup_free) struct of_whole_member *members = of_whole_list(build, &count);
	CLEANUP(cleanup_free) bool *wanted = memory_zeroed(build->diff->function_count + 1, sizeof(*wanted));

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		wanted[members[i].function] = true;
	surroundings_find(build, wanted, &around);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && members[to].whole == members[from].whole;)
			to++;
		merge_of_whole(build, &members[from], to - from, &around);
	}
}
