/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/tiers.h"

#include "diff/constants.h"
#include "diff/statistics/runtime.h"

#include <stdlib.h>

struct tiers {
	const struct diff *diff;
	double *all, *called; /* [function] time of both sides, in all and where compiled code calls it; owned */
	bool *is_below;       /* [node] whether an ancestor is compiled; owned */
	enum profile_language language;
};

static void tiers_deinit(struct tiers *t)
{
	free(t->all);
	free(t->called);
	free(t->is_below);
}

/* Compiled code may have no name. */
static bool tiers_is_compiled(const struct diff *diff, uint32_t function)
{
	const struct diff_function *f = &diff->functions[function];

	return build_is_compiled_at_run_time(f) || (f->name_source == PROFILE_NAME_NONE && !f->interrupt &&
							   profile_is_made_at_run_time(diff_string(diff, f->module)));
}

/* Parents come before their children. */
static void tiers_add_node(struct tiers *t, uint32_t node)
{
	const struct diff *diff = t->diff;
	uint32_t function = diff->nodes[node].function, parent = diff->nodes[node].parent;
	bool is_called = parent > 0 && tiers_is_compiled(diff, diff->nodes[parent].function);
	double time = diff->node_total[DIFF_BASE][node] + diff->node_total[DIFF_HEAD][node] * diff->scale.factor;

	t->is_below[node] = t->is_below[parent] || is_called;
	t->all[function] += time;
	t->called[function] += is_called ? time : 0;
}

static void tiers_init(struct tiers *t)
{
	t->all = memory_zeroed(t->diff->function_count + 1, sizeof(*t->all));
	t->called = memory_zeroed(t->diff->function_count + 1, sizeof(*t->called));
	t->is_below = memory_zeroed(t->diff->node_count + 1, sizeof(*t->is_below));
	for (uint32_t node = 1; node < t->diff->node_count; node++)
		tiers_add_node(t, node);
}

static bool tiers_has(const struct tiers *t, uint32_t function)
{
	const struct diff_function *f = &t->diff->functions[function];

	return tiers_is_compiled(t->diff, function) || f->interprets != PROFILE_LANGUAGE_NATIVE ||
	       (profile_language_of_module(diff_string(t->diff, f->module)) == t->language &&
		       t->called[function] > tiers_most * t->all[function]);
}

void tiers_mark(const struct diff_build *build, struct experiment *experiment)
{
	CLEANUP(tiers_deinit) struct tiers t = { .diff = build->diff, .language = runtime_language(build->diff) };

	if (!runtime_compiles(t.language))
		return;
	tiers_init(&t);
	for (uint32_t i = 0; i < build->diff->function_count; i++)
		build->diff->functions[i].by_tier = tiers_has(&t, i);
	for (size_t i = 0; i < experiment->row_count; i++) {
		struct row *row = &experiment->rows[i];

		if (row->kind == ROW_NODE)
			row->by_tier = t.is_below[row->id] || tiers_has(&t, build->diff->nodes[row->id].function);
		else if (row->kind != ROW_WHOLE && !row->mix)
			row->by_tier = tiers_has(&t, row->id);
	}
}
