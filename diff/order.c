/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/order.h"

#include "diff/match/align.h"
#include "diff/statistics/instances.h"
#include "diff/verdict/cause.h"
#include "diff/verdict/changes.h"
#include "diff/wait_sites.h"

#include <math.h>
#include <string.h>

struct order_entry {
	double weight;
	uint32_t function;
	bool is_wait; /* the frame of a class of waits, which says nothing that the class' total does not */
};

static int diff_order_compare_entries(const void *a, const void *b, void *context)
{
	const struct diff *diff = context;
	const struct order_entry *x = a, *y = b;
	const struct diff_function *f = &diff->functions[x->function], *g = &diff->functions[y->function];
	int order;

	if (x->is_wait != y->is_wait)
		return x->is_wait ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	order = strcmp(diff_string(diff, f->name), diff_string(diff, g->name));
	return order ? order : strcmp(diff_string(diff, f->key), diff_string(diff, g->key));
}

/* Returns whether all nodes of a function were in interrupts, so that the function outside them has none left. */
static bool has_become_interrupt(const struct diff_build *build, uint32_t function)
{
	return build->interrupt_of && !build->diff->functions[function].interrupt && !build->has_nodes[function] &&
	       (build->interrupt_of[function] != PROFILE_NONE || build->compilation_of[function] != PROFILE_NONE);
}

static bool diff_order_stays(const struct diff_build *build, uint32_t function)
{
	return !has_become_interrupt(build, function) && align_stays(build, function);
}

static void link_renamed(struct diff_build *build)
{
	struct diff *diff = build->diff;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		uint32_t into = build->redirect[i];

		if (into == i || !align_stays(build, i))
			continue;
		diff->functions[i].tier = diff->functions[into].tier;
		diff->functions[i].moved_to = into;
		diff->functions[i].self.state = diff->functions[i].total.state = DIFF_STATE_MOVED;
		diff->functions[into].moved_to = i;
	}
}

static size_t collect_entries(const struct diff_build *build, struct order_entry *entries)
{
	struct diff *diff = build->diff;
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (!diff_order_stays(build, i))
			continue;
		entries[count++] = (struct order_entry){
			.weight = build_two_sided(build) ? fabs(f->total.delta) : f->total.head,
			.function = i,
			.is_wait = diff_wait_class(diff, f) != PROFILE_WAIT_NONE,
		};
	}
	qsort_r(entries, count, sizeof(*entries), diff_order_compare_entries, diff);
	return count;
}

/* Appends the functions that do not stay, behind all others. */
static void append_others(const struct diff_build *build, struct order_entry *entries, size_t count)
{
	for (uint32_t i = 0; i < build->diff->function_count; i++)
		if (!diff_order_stays(build, i))
			entries[count++].function = i;
}

/*
 * Moves each function to the place of its entry, along the circles in which they take each other's places: a second
 * table would be the most memory that a diff ever takes.
 */
static void move_functions(struct diff_function *functions, struct order_entry *entries, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct diff_function first = functions[i];
		uint32_t to = i;

		for (uint32_t from; (from = entries[to].function) != i; to = from) {
			functions[to] = functions[from];
			entries[to].function = to;
		}
		functions[to] = first;
		entries[to].function = to;
	}
}

static int order_compare_members(const void *a, const void *b)
{
	const struct diff_member *x = a, *y = b;

	if (x->function != y->function)
		return ORDER(x->function, y->function);
	return x->side != y->side ? ORDER(x->side, y->side) : ORDER(x->name, y->name);
}

static void order_members(struct diff *diff, const uint32_t *new_ids)
{
	for (size_t i = 0; i < diff->member_count; i++)
		diff->members[i].function = new_ids[diff->members[i].function];
	if (diff->member_count > 0)
		qsort(diff->members, diff->member_count, sizeof(*diff->members), order_compare_members);
}

void order_functions(struct diff_build *build)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) struct order_entry *entries = memory_alloc((diff->function_count + 1) * sizeof(*entries));
	CLEANUP(cleanup_free) uint32_t *new_ids = memory_alloc((diff->function_count + 1) * sizeof(*new_ids));
	size_t count;

	link_renamed(build);
	count = collect_entries(build, entries);
	append_others(build, entries, count);
	for (uint32_t i = 0; i < diff->function_count; i++)
		new_ids[entries[i].function] = i;
	move_functions(diff->functions, entries, diff->function_count);
	diff->function_count = count;
	for (size_t i = 0; i < count; i++)
		if (diff->functions[i].moved_to != PROFILE_NONE)
			diff->functions[i].moved_to = new_ids[diff->functions[i].moved_to];
	for (size_t node = 1; node < diff->node_count; node++)
		diff->nodes[node].function = new_ids[diff->nodes[node].function];
	wait_sites_reorder(diff, new_ids);
	changes_reorder(diff, new_ids);
	cause_reorder(&diff->cause, new_ids);
	instances_reorder(diff, new_ids);
	order_members(diff, new_ids);
}
