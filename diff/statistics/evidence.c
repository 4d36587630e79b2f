/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence.h"

#include "diff/statistics/basis.h"
#include "diff/statistics/measured.h"
#include "diff/statistics/placement.h"
#include "diff/statistics/runtime.h"
#include "diff/statistics/scale.h"
#include "diff/statistics/states.h"
#include "diff/statistics/units.h"
#include "diff/statistics/weigh.h"

#include <math.h>

static enum diff_evidence_mode choose_mode(const struct diff_build *build)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];

	if (build->diff->whole)
		return build->diff->whole->evidence.mode;
	if (build->diff->is_exact)
		return DIFF_EVIDENCE_EXACT;
	if (units_have_runs(build))
		return DIFF_EVIDENCE_RUNS;
	if (!build_is_counted(build))
		return DIFF_EVIDENCE_NONE;
	if (units_blocks(base) > 0 && units_blocks(head) > 0)
		return DIFF_EVIDENCE_SINGLE;
	return DIFF_EVIDENCE_COUNTS;
}

/*
 * A node that has all of its function's time is that function, and both were tested. The function's result is used for
 * the node.
 */
static void join_whole_frames(struct diff *diff)
{
	for (size_t node = 1; node < diff->node_count; node++) {
		struct diff_node *n = &diff->nodes[node];
		const struct diff_function *f = &diff->functions[n->function];

		if (isnan(f->total.ci_low) || diff->node_total[DIFF_BASE][node] != f->raw_total[DIFF_BASE] ||
			diff->node_total[DIFF_HEAD][node] != f->raw_total[DIFF_HEAD])
			continue;
		n->state = (uint8_t)f->total.state;
		n->ci_low = (float)f->total.ci_low;
		n->ci_high = (float)f->total.ci_high;
	}
}

/* A function that was matched under another name, and whose time did not change, is shown as moved. */
static void mark_renamed(struct diff *diff)
{
	bool any = false;

	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (!diff_tier_is_rename(f->tier))
			continue;
		any = true;
		if (f->self.state == DIFF_STATE_SAME || f->self.state == DIFF_STATE_UNPROVEN)
			f->self.state = DIFF_STATE_MOVED;
		if (f->total.state == DIFF_STATE_SAME || f->total.state == DIFF_STATE_UNPROVEN)
			f->total.state = DIFF_STATE_MOVED;
	}
	for (size_t node = 1; any && node < diff->node_count; node++) {
		struct diff_node *n = &diff->nodes[node];

		if (diff_tier_is_rename(diff->functions[n->function].tier) &&
			(n->state == DIFF_STATE_SAME || n->state == DIFF_STATE_UNPROVEN))
			n->state = DIFF_STATE_MOVED;
	}
}

static void evidence_weigh_rows(struct diff_build *build, const struct experiment *experiment)
{
	CLEANUP(cleanup_free)
	struct row_result *results = memory_alloc((experiment->row_count + 1) * sizeof(*results));

	weigh_rows(build, experiment, results);
	if (!build->diff->is_exact) {
		measured_weigh(build, experiment, results);
		placement_weigh(build, experiment, results);
	}
	weigh_families(experiment, results);
	for (size_t row = 0; row < experiment->row_count; row++)
		states_apply(build, &experiment->rows[row], &results[row]);
	join_whole_frames(build->diff);
}

void evidence_weigh(struct diff_build *build)
{
	CLEANUP(experiment_deinit) struct experiment experiment = { 0 };
	struct diff_evidence *evidence = &build->diff->evidence;

	evidence->mode = choose_mode(build);
	if (basis_own(build))
		basis_own(build)->language = runtime_language(build->diff);
	units_create(build, &experiment);
	for (int side = 0; side < DIFF_SIDES; side++) {
		evidence->runs[side] = build->profiles[side]->run_count;
	}
	states_without_evidence(build);
	if (evidence->mode != DIFF_EVIDENCE_NONE)
		evidence_weigh_rows(build, &experiment);
	mark_renamed(build->diff);
	scale_describe(build);
}
