/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/diff.h"

#include "diff/align.h"
#include "diff/build.h"
#include "diff/code.h"
#include "diff/evidence.h"
#include "diff/frames.h"
#include "diff/load.h"
#include "diff/metric.h"
#include "diff/moved.h"
#include "diff/order.h"
#include "diff/readings.h"
#include "diff/run_figures.h"
#include "diff/scale.h"
#include "diff/totals.h"
#include "diff/union_tree.h"
#include "diff/verdict.h"
#include "diff/warnings.h"

#include <stdarg.h>

/* Names of two profiles with millions of distinct symbols; beyond that it is no program's. */
static const size_t max_string_bytes = (size_t)4 << 30;

static const double default_min_effect_points = 0.1;
static const double default_q = 0.05;

bool build_text(struct diff *diff, struct error *err, uint32_t *id, const char *format, ...)
{
	char text[1024];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (size < 0)
		return error_set_memory(err);
	return string_table_add(diff->strings, text, (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1, id, err);
}

/* What is needed no more once the samples have their nodes. */
static void release_trees(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		profile_tree_destroy(build->trees[side]);
		build->trees[side] = NULL;
		free(build->union_nodes[side]);
		build->union_nodes[side] = NULL;
	}
}

static void build_deinit(struct diff_build *build)
{
	release_trees(build);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(build->function_ids[side]);
		free(build->met[side]);
		free(build->present[side]);
	}
	free(build->redirect);
	free(build->module_of);
	free(build->only_inlined);
	free(build->interrupt_of);
	free(build->has_nodes);
	free(build->topmost);
	diff_destroy(build->diff);
}

static bool build_init(struct diff_build *build, const struct diff_options *options, struct error *err)
{
	if (options)
		build->options = *options;
	if (!(build->options.min_effect_points > 0))
		build->options.min_effect_points = default_min_effect_points;
	if (!(build->options.q > 0))
		build->options.q = default_q;
	build->diff = calloc(1, sizeof(*build->diff));
	if (!build->diff)
		return error_set_memory(err);
	build->diff->sides = build->profiles[DIFF_BASE] ? DIFF_SIDES : 1;
	build->diff->scale.factor = 1;
	build->diff->evidence.q = build->options.q;
	return string_table_create(max_string_bytes, &build->diff->strings, err);
}

static bool make_trees(struct diff_build *build, struct error *err)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (build->profiles[side] && !profile_tree_create_shape(build->profiles[side], &build->trees[side], err))
			return false;
	}
	return true;
}

static const char *side_label(const struct profile *profile)
{
	const char *command = profile_string(profile, profile->facts.command);

	return command[0]               ? command
	       : profile->mapping_count ? profile_string(profile, profile->mappings[0].path)
					: "unknown command";
}

static bool check_shared(const struct diff_build *build, struct error *err)
{
	for (size_t i = 0; i < build->diff->function_count; i++) {
		if (build->present[DIFF_BASE][i] && build->present[DIFF_HEAD][i])
			return true;
	}
	return error_set(err, ERROR_EMPTY,
		"base (%.100s) and head (%.100s) have no function in common; compare recordings of the same program, both with symbols ('kelvin report FILE --text' shows what each contains)",
		side_label(build->profiles[DIFF_BASE]), side_label(build->profiles[DIFF_HEAD]));
}

static bool make_union(struct diff_build *build, struct error *err)
{
	if (!union_tree_create(build, err))
		return false;
	totals_sum(build);
	return true;
}

static bool align(struct diff_build *build, struct error *err)
{
	size_t moved = 0, renamed = 0;

	if (!align_functions(build, err))
		return false;
	if (!build_two_sided(build))
		return make_union(build, err);
	if (!code_compare(build, err) || !code_match_renamed(build, &renamed, err))
		return false;
	if (renamed > 0 && !code_compare(build, err))
		return false;
	if (!check_shared(build, err) || !make_union(build, err) || !load_measure(build, err) || !moved_match(build, &moved, err))
		return false;
	if (moved == 0)
		return true;
	return code_compare(build, err) && make_union(build, err) && load_measure(build, err);
}

static bool weigh(struct diff_build *build, struct error *err)
{
	if (!build_two_sided(build)) {
		totals_scale(build->diff);
		return true;
	}
	if (!scale_choose(build, err))
		return false;
	totals_scale(build->diff);
	if (!evidence_weigh(build, err) || !moved_link(build, err) || !frames_link(build, err))
		return false;
	readings_choose(build);
	return run_figures_collect(build, err);
}

static bool run(struct diff_build *build, struct diff **diff, struct error *err)
{
	if (!metric_choose(build, err) || !make_trees(build, err) || !align(build, err) || !union_tree_place_samples(build, err))
		return false;
	release_trees(build);
	if (!weigh(build, err) || !warnings_collect(build, err) || !verdict_decide(build, err) || !order_functions(build, err))
		return false;
	*diff = TAKE(build->diff);
	return true;
}

bool diff_create(const struct profile *base, const struct profile *head, const struct diff_options *options, struct diff **diff,
	struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { base, head } };

	return build_init(&build, options, err) && run(&build, diff, err);
}

bool diff_create_single(const struct profile *profile, const struct diff_options *options, struct diff **diff, struct error *err)
{
	CLEANUP(build_deinit) struct diff_build build = { .profiles = { NULL, profile } };

	return build_init(&build, options, err) && run(&build, diff, err);
}

void diff_destroy(struct diff *diff)
{
	if (!diff)
		return;
	string_table_destroy(diff->strings);
	free(diff->nodes);
	free(diff->functions);
	free(diff->warnings);
	free(diff->runs.outliers);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(diff->node_self[side]);
		free(diff->node_total[side]);
		free(diff->sample_nodes[side]);
	}
	free(diff);
}
