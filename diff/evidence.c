/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence.h"

#include "diff/aa.h"
#include "diff/bh.h"
#include "diff/evidence_runs.h"
#include "diff/evidence_single.h"
#include "diff/floor.h"
#include "diff/metric.h"
#include "diff/scale.h"
#include "diff/states.h"
#include "diff/totals.h"
#include "diff/units.h"

#include <math.h>

static enum diff_evidence_mode choose_mode(const struct diff_build *build)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];

	if (base->run_count >= UNITS_MIN_RUNS && head->run_count >= UNITS_MIN_RUNS)
		return DIFF_EVIDENCE_RUNS;
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
		return speed->explained && metric_is_time(build) ? SPEED_ADJUST : SPEED_NOISE;
	case DIFF_SCALE_RATE:
	case DIFF_SCALE_WORK:
		return SPEED_NOISE;
	}
	return SPEED_NOISE;
}

/* A difference in machine speed that the runs explain is no change of the program: it goes into the factor, and is said. */
static void refine_scale(struct diff_build *build, const struct speed *speed, struct experiment *experiment)
{
	if (build->diff->scale.mode != DIFF_SCALE_PER_RUN || !speed->explained || speed->delta == 0 || !metric_is_time(build))
		return;
	build->diff->scale.factor *= exp(-speed->delta);
	build->diff->scale.controls = build->robust_controls;
	build->speed_divided_out = true;
	experiment->factor = build->diff->scale.factor;
	totals_scale(build->diff);
}

/* Whether neither side was recorded wholly before the other: else what the machine did in between is not in what runs differ by. */
static bool runs_overlap(const struct diff_build *build)
{
	int64_t first[DIFF_SIDES] = { INT64_MAX, INT64_MAX }, last[DIFF_SIDES] = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; i < profile->run_count; i++) {
			int64_t start = profile->runs[i].start_unix_ns;

			first[side] = start < first[side] ? start : first[side];
			last[side] = start > last[side] ? start : last[side];
		}
	}
	return first[DIFF_BASE] < last[DIFF_HEAD] && first[DIFF_HEAD] < last[DIFF_BASE];
}

/* A factor that was guessed from functions has an error of its own. */
static bool whole_is_measured(const struct diff_build *build)
{
	enum diff_scale_mode mode = build->diff->scale.mode;

	return !build->speed_divided_out && runs_overlap(build) &&
	       (mode == DIFF_SCALE_PER_RUN || mode == DIFF_SCALE_RATE || mode == DIFF_SCALE_WORK);
}

static bool weigh_runs(
	struct diff_build *build, struct experiment *experiment, struct row_result *results, double *speed_rsd, struct error *err)
{
	CLEANUP(speed_deinit) struct speed speed = { 0 };
	double runs = (double)build->profiles[DIFF_HEAD]->run_count / (double)build->profiles[DIFF_BASE]->run_count;

	if (!speed_measure(experiment, -log(build->robust_factor * runs), &speed, err))
		return false;
	*speed_rsd = sqrt(speed.variance);
	refine_scale(build, &speed, experiment);
	experiment->whole_is_measured = whole_is_measured(build);
	return evidence_runs(experiment, &speed, speed_use_of(build, &speed), results, err);
}

static bool weigh_single(
	struct diff_build *build, const struct experiment *experiment, struct row_result *results, struct error *err)
{
	enum diff_scale_mode mode = build->diff->scale.mode;
	struct process_floor floor = floor_of(build);

	floor.factor_variance = mode == DIFF_SCALE_ROBUST ? build->robust_variance : 0;

	if (!evidence_single(experiment, mode == DIFF_SCALE_ROBUST || mode == DIFF_SCALE_SHARE, &floor, results, err))
		return false;
	build->diff->evidence.floor_rsd = floor.others;
	for (size_t i = 0; i < build->diff->function_count; i++)
		if (build->diff->functions[i].code == DIFF_CODE_CHANGED)
			build->diff->evidence.floor_changed_rsd = floor.changed;
	return true;
}

static bool apply_family(struct diff_build *build, const struct experiment *experiment, const struct family *family,
	struct row_result *results, struct error *err)
{
	double alpha;

	if (!bh_adjust(experiment, family, build->options.q, results, &alpha, err))
		return false;
	for (size_t row = 0; row < experiment->row_count; row++) {
		if (family_has(family, &experiment->rows[row]))
			states_apply(build, &experiment->rows[row], &results[row], alpha);
	}
	return true;
}

static bool apply(struct diff_build *build, const struct experiment *experiment, struct row_result *results, struct error *err)
{
	bool by_code = build->diff->evidence.mode != DIFF_EVIDENCE_RUNS;

	for (int group = GROUP_FUNCTIONS; group <= GROUP_NODES; group++) {
		struct family family = { (enum row_group)group, by_code, false };

		if (!apply_family(build, experiment, &family, results, err))
			return false;
		family.changed = true;
		if (by_code && !apply_family(build, experiment, &family, results, err))
			return false;
	}
	return true;
}

/* A frame that has all of its function's time is the function, which was asked about twice: what was found of that is the answer.
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

/* A function that was recognised under another name, and whose time did not change, is shown as moved. */
static void mark_renamed(struct diff *diff)
{
	bool any = false;

	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (f->tier != DIFF_TIER_MOVED)
			continue;
		any = true;
		if (f->self.state == DIFF_STATE_SAME || f->self.state == DIFF_STATE_UNPROVEN)
			f->self.state = DIFF_STATE_MOVED;
		if (f->total.state == DIFF_STATE_SAME || f->total.state == DIFF_STATE_UNPROVEN)
			f->total.state = DIFF_STATE_MOVED;
	}
	for (size_t node = 1; any && node < diff->node_count; node++) {
		struct diff_node *n = &diff->nodes[node];

		if (diff->functions[n->function].tier == DIFF_TIER_MOVED &&
			(n->state == DIFF_STATE_SAME || n->state == DIFF_STATE_UNPROVEN))
			n->state = DIFF_STATE_MOVED;
	}
}

bool evidence_weigh(struct diff_build *build, struct error *err)
{
	CLEANUP(experiment_deinit) struct experiment experiment = { 0 };
	CLEANUP(cleanup_free) struct row_result *results = NULL;
	struct diff_evidence *evidence = &build->diff->evidence;
	double speed_rsd = NAN;

	evidence->mode = choose_mode(build);
	if (!units_create(build, &experiment, err))
		return false;
	results = malloc((experiment.row_count + 1) * sizeof(*results));
	if (!results)
		return error_set_memory(err);
	for (int side = 0; side < DIFF_SIDES; side++) {
		evidence->runs[side] = build->profiles[side]->run_count;
		evidence->blocks[side] = evidence->mode == DIFF_EVIDENCE_SINGLE ? experiment.sides[side].unit_count : 0;
	}
	if (!(evidence->mode == DIFF_EVIDENCE_RUNS ? weigh_runs(build, &experiment, results, &speed_rsd, err)
						   : weigh_single(build, &experiment, results, err)))
		return false;
	states_without_evidence(build);
	if (!apply(build, &experiment, results, err) || !scale_describe(build, speed_rsd, err))
		return false;
	join_whole_frames(build->diff);
	mark_renamed(build->diff);
	return aa_test(build, &experiment, evidence->mode, err);
}
