/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/evidence.h"

#include "diff/metric.h"
#include "diff/statistics/aa.h"
#include "diff/statistics/basis.h"
#include "diff/statistics/bh.h"
#include "diff/statistics/evidence_exact.h"
#include "diff/statistics/evidence_runs.h"
#include "diff/statistics/evidence_single.h"
#include "diff/statistics/floor.h"
#include "diff/statistics/load.h"
#include "diff/statistics/measured.h"
#include "diff/statistics/open_load.h"
#include "diff/statistics/scale.h"
#include "diff/statistics/states.h"
#include "diff/statistics/units.h"
#include "diff/totals.h"

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

static enum speed_use speed_use_of(const struct diff_build *build, const struct speed *speed)
{
	switch (build->diff->scale.mode) {
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
	case DIFF_SCALE_SHARE:
		return speed->explained ? SPEED_ADJUST : SPEED_DIVIDED;
	case DIFF_SCALE_PER_RUN:
		return build->speed_is_explained ? SPEED_BESIDE : SPEED_NOISE;
	case DIFF_SCALE_RATE:
	case DIFF_SCALE_PER_REQUEST:
	case DIFF_SCALE_WORK:
		return SPEED_NOISE;
	}
	return SPEED_NOISE;
}

/*
 * Returns whether the recordings of both sides may overlap in time. If one side was recorded wholly before the other,
 * the differences between runs of a side do not show what the machine did in between.
 */
static bool runs_overlap(const struct diff_build *build)
{
	int64_t first[DIFF_SIDES] = { INT64_MAX, INT64_MAX }, last[DIFF_SIDES] = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; i < profile->run_count; i++) {
			int64_t start = profile->runs[i].start_unix_ns;

			if (start == 0)
				return true;
			first[side] = start < first[side] ? start : first[side];
			last[side] = start > last[side] ? start : last[side];
		}
	}
	return first[DIFF_BASE] < last[DIFF_HEAD] && first[DIFF_HEAD] < last[DIFF_BASE];
}

/*
 * Returns whether the figures of whole runs (CPU time by wait4(), wall time) show that the sides differ. They are
 * independent of the samples, so the machine's speed is not the explanation then.
 */
static bool witnesses_differ(const struct diff_build *build)
{
	static const enum diff_run_figure witnesses[] = { DIFF_RUN_CPU, DIFF_RUN_WALL };

	for (size_t i = 0; i < sizeof(witnesses) / sizeof(witnesses[0]); i++) {
		struct diff_run_summary s;

		if (!diff_summarize_runs(build->profiles[DIFF_BASE], build->profiles[DIFF_HEAD], witnesses[i],
			    build->options.runs_in_pairs, &s))
			return false;
		if (!(s.change_low > 0 || s.change_high < 0))
			return false;
	}
	return true;
}

/*
 * Returns whether the machine's speed may explain the difference that nearly all functions show: it lies within the
 * variation between runs of one side, and the figures of whole runs do not contradict. Functions are then judged
 * relative to it. It stays part of every figure and of the total. How long threads wait is no speed of the machine.
 */
static bool speed_is_explained(const struct diff_build *build, const struct speed *speed)
{
	return build->diff->scale.mode == DIFF_SCALE_PER_RUN && speed->explained && speed->delta != 0 &&
	       metric_is_time(build) && build->diff->waiting != DIFF_WAITING_ALL && !witnesses_differ(build);
}

static bool whole_is_measured(const struct diff_build *build)
{
	enum diff_scale_mode mode = build->diff->scale.mode;

	return mode == DIFF_SCALE_PER_RUN || mode == DIFF_SCALE_RATE || mode == DIFF_SCALE_PER_REQUEST ||
	       mode == DIFF_SCALE_WORK;
}

static void weigh_runs(struct diff_build *build, struct experiment *experiment, struct row_result *results)
{
	struct basis *own = basis_own(build);
	const struct basis *basis = basis_of(build->diff);
	struct moderation moderation = basis->moderation;
	double runs = (double)build->profiles[DIFF_HEAD]->run_count / (double)build->profiles[DIFF_BASE]->run_count;

	if (own) {
		speed_measure(experiment, -log(build->load.typical * runs), &own->speed);
		/* Layouts differ by where code lies, however fast the machine is. */
		own->speed_is_explained = !experiment->units_are_layouts && speed_is_explained(build, &own->speed);
	}
	build->speed_is_explained = basis->speed_is_explained;
	build->speed_delta = basis->speed.delta;
	build->speed_rsd = sqrt(basis->speed.variance);
	experiment->whole_is_measured = whole_is_measured(build);
	experiment->in_turn = runs_overlap(build);
	experiment->in_pairs = build->options.runs_in_pairs && build->diff->scale.mode == DIFF_SCALE_PER_RUN &&
			       !experiment->units_are_layouts && !experiment->is_part &&
			       experiment->sides[DIFF_BASE].unit_count == experiment->sides[DIFF_HEAD].unit_count;
	experiment->has_modes = floor_is_compiled_at_run_time(floor_language(build->diff));
	evidence_runs(experiment, &basis->speed, speed_use_of(build, &basis->speed), &moderation, results);
	if (own)
		own->moderation = moderation;
}

static void weigh_single(struct diff_build *build, const struct experiment *experiment, struct row_result *results)
{
	enum diff_scale_mode mode = build->diff->scale.mode;
	struct basis *own = basis_own(build);
	struct process_floor floor = own ? floor_of(build) : basis_of(build->diff)->floor;

	evidence_single(experiment, mode == DIFF_SCALE_ROBUST || mode == DIFF_SCALE_SHARE, &floor, results);
	if (own)
		own->floor = floor;
	build->diff->evidence.floor_rsd = build->diff->waiting == DIFF_WAITING_ALL ? floor.waits : floor.others;
	for (size_t i = 0; i < build->diff->function_count; i++)
		if (build->diff->functions[i].code == DIFF_CODE_CHANGED)
			build->diff->evidence.floor_changed_rsd = floor.changed;
}

static void apply_family(struct diff_build *build, const struct experiment *experiment, const struct family *family,
	struct row_result *results)
{
	double alpha;

	bh_adjust(experiment, family, build->options.q, results, &alpha);
	for (size_t row = 0; row < experiment->row_count; row++) {
		if (family_has(family, &experiment->rows[row]))
			states_apply(build, &experiment->rows[row], &results[row], alpha);
	}
}

static void evidence_apply(struct diff_build *build, const struct experiment *experiment, struct row_result *results)
{
	for (int group = GROUP_FUNCTIONS; group <= GROUP_NODES; group++) {
		struct family family = { (enum row_group)group, true, false };

		apply_family(build, experiment, &family, results);
		family.changed = true;
		apply_family(build, experiment, &family, results);
	}
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

/* Tests what sampling measured. */
static void weigh_samples(struct diff_build *build, struct experiment *experiment)
{
	struct diff_evidence *evidence = &build->diff->evidence;
	CLEANUP(cleanup_free)
	struct row_result *results = memory_alloc((experiment->row_count + 1) * sizeof(*results));

	load_weigh_rows(build, experiment);
	open_load_weigh_rows(build, experiment);
	if (evidence->mode == DIFF_EVIDENCE_RUNS)
		weigh_runs(build, experiment, results);
	else
		weigh_single(build, experiment, results);
	evidence->by_ranks = results[0].by_ranks;
	measured_weigh(build, experiment, results);
	placement_weigh(build, experiment, results);
	open_load_judge(experiment, results);
	states_without_evidence(build);
	evidence_apply(build, experiment, results);
	join_whole_frames(build->diff);
	if (!build->diff->whole)
		aa_test(build, experiment, evidence->mode);
}

void evidence_weigh(struct diff_build *build)
{
	CLEANUP(experiment_deinit) struct experiment experiment = { 0 };
	struct diff_evidence *evidence = &build->diff->evidence;

	evidence->mode = choose_mode(build);
	if (basis_own(build))
		basis_own(build)->language = floor_language(build->diff);
	units_create(build, &experiment);
	for (int side = 0; side < DIFF_SIDES; side++) {
		evidence->runs[side] = build->profiles[side]->run_count;
		evidence->blocks[side] = evidence->mode == DIFF_EVIDENCE_SINGLE ? experiment.sides[side].unit_count : 0;
	}
	if (evidence->mode == DIFF_EVIDENCE_EXACT) {
		states_without_evidence(build);
		evidence_exact(build, &experiment);
	} else
		weigh_samples(build, &experiment);
	mark_renamed(build->diff);
	scale_describe(build);
}
