/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/order.h"

#include "diff/statistics/instances.h"
#include "diff/verdict/cause.h"
#include "diff/verdict/changes.h"
#include "diff/wait_sites.h"

#include <math.h>
#include <string.h>

struct entry {
	bool is_wait; /* the frame of a class of waits, which says nothing that the class' total does not */
	double weight;
	const char *name, *key;
	uint32_t function;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order;

	if (x->is_wait != y->is_wait)
		return x->is_wait ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->key, y->key);
}

/* Whether all nodes of a function were in interrupts, so that the function outside them has none left. */
static bool has_become_interrupt(const struct diff_build *build, uint32_t function)
{
	return build->interrupt_of && !build->diff->functions[function].interrupt && !build->has_nodes[function] &&
	       (build->interrupt_of[function] != PROFILE_NONE || build->compilation_of[function] != PROFILE_NONE);
}

static bool stays(const struct diff_build *build, uint32_t function)
{
	uint32_t into = build->redirect[function];

	if (has_become_interrupt(build, function))
		return false;
	return into == function || build->diff->functions[into].tier == DIFF_TIER_MOVED;
}

static void link_renamed(struct diff_build *build)
{
	struct diff *diff = build->diff;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		uint32_t into = build->redirect[i];

		if (into == i || diff->functions[into].tier != DIFF_TIER_MOVED)
			continue;
		diff->functions[i].tier = DIFF_TIER_MOVED;
		diff->functions[i].moved_to = into;
		diff->functions[i].self.state = diff->functions[i].total.state = DIFF_STATE_MOVED;
		diff->functions[into].moved_to = i;
	}
}

static size_t collect_entries(const struct diff_build *build, struct entry *entries)
{
	const struct diff *diff = build->diff;
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (!stays(build, i))
			continue;
		entries[count++] = (struct entry){
			.is_wait = diff_wait_class(diff, f) != PROFILE_WAIT_NONE,
			.weight = build_two_sided(build) ? fabs(f->total.delta) : f->total.head,
			.name = diff_string(diff, f->name),
			.key = diff_string(diff, f->key),
			.function = i,
		};
	}
	qsort(entries, count, sizeof(*entries), compare_entries);
	return count;
}

bool order_functions(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) struct entry *entries = malloc((diff->function_count + 1) * sizeof(*entries));
	CLEANUP(cleanup_free) uint32_t *new_ids = malloc((diff->function_count + 1) * sizeof(*new_ids));
	struct diff_function *functions = malloc((diff->function_count + 1) * sizeof(*functions));
	size_t count;

	if (!entries || !new_ids || !functions) {
		free(functions);
		return error_set_memory(err);
	}
	link_renamed(build);
	count = collect_entries(build, entries);
	for (uint32_t i = 0; i < count; i++)
		new_ids[entries[i].function] = i;
	for (size_t i = 0; i < count; i++) {
		functions[i] = diff->functions[entries[i].function];
		if (functions[i].moved_to != PROFILE_NONE)
			functions[i].moved_to = new_ids[functions[i].moved_to];
	}
	for (size_t node = 1; node < diff->node_count; node++)
		diff->nodes[node].function = new_ids[diff->nodes[node].function];
	free(diff->functions);
	diff->functions = functions;
	diff->function_count = count;
	wait_sites_reorder(diff, new_ids);
	changes_reorder(diff, new_ids);
	cause_reorder(&diff->cause, new_ids);
	instances_reorder(diff, new_ids);
	return true;
}
