/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/build.h"

#include "diff/probability/probability.h"
#include "diff/statistics/pairs.h"

#include <math.h>
#include <stdarg.h>

/* Room for the names of two profiles with millions of distinct symbols; no program has more. */
static const size_t max_string_bytes = (size_t)4 << 30;

void build_text(struct diff *diff, uint32_t *id, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	*id = string_table_enter_text(diff->strings, format, args);
	va_end(args);
}

void build_release_trees(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		profile_tree_destroy(build->trees[side]);
		build->trees[side] = NULL;
		free(build->union_nodes[side]);
		build->union_nodes[side] = NULL;
	}
}

void build_deinit(struct diff_build *build)
{
	build_release_trees(build);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(build->leads_of[side]);
		free(build->function_ids[side]);
		free(build->met[side]);
		free(build->present[side]);
		free(build->release_nodes[side]);
	}
	free(build->redirect);
	free(build->names);
	string_table_destroy(build->templates);
	free(build->module_of);
	free(build->only_inlined);
	free(build->interrupt_of);
	free(build->compilation_of);
	free(build->has_nodes);
	free(build->topmost);
	free(build->owners);
	diff_destroy(build->diff);
}

/* A part of a part is one of the whole. */
static void build_be_part(struct diff_build *build, const struct diff *like)
{
	build->diff->whole = build_whole(like);
	build->options.metric = diff_string(like, like->metric);
	build->options.q = build->diff->whole->evidence.q > 0 ? build->diff->whole->evidence.q : build->options.q;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; i < profile->function_count && !build->is_grouped; i++)
			build->is_grouped = strcmp(profile_string(profile, profile->functions[i].module),
						    PROFILE_GROUP_MODULE) == 0;
	}
}

void build_init(struct diff_build *build, const struct diff_options *options)
{
	if (options)
		build->options = *options;
	if (!(build->options.q > 0))
		build->options.q = step_up_default_q;
	build->diff = memory_zeroed(1, sizeof(*build->diff));
	build->diff->sides = build->profiles[DIFF_BASE] ? DIFF_SIDES : 1;
	if (build_two_sided(build) && pairs_were_made(build->profiles[DIFF_BASE], build->profiles[DIFF_HEAD]))
		build->options.runs_in_pairs = true;
	if (build->options.like && build_two_sided(build)) {
		build_be_part(build, build->options.like);
	} else {
		build->diff->basis = basis_create();
	}
	build->diff->scale.factor = 1;
	build->diff->layouts = (struct diff_layouts){ .rsd = NAN, .same_code_rsd = NAN };
	build->diff->named_wait = PROFILE_NONE;
	build->diff->cause.function = PROFILE_NONE;
	build->diff->evidence.q = build->options.q;
	build->diff->strings = string_table_begin(max_string_bytes);
	if (build_two_sided(build))
		build->templates = string_table_begin(max_string_bytes);
}
