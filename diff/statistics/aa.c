/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/aa.h"

#include "diff/statistics/bh.h"
#include "diff/statistics/evidence_runs.h"
#include "diff/statistics/evidence_single.h"
#include "diff/statistics/states.h"
#include "diff/statistics/work.h"

#include <math.h>
#include <string.h>

enum { MIN_UNITS = 4 };

/* Rows are shared with the experiment that is halved. Rows of nodes come last, and are left out. */
static size_t rows_of_functions(const struct experiment *experiment)
{
	size_t count = experiment->row_count;

	while (count > 0 && row_is_node(&experiment->rows[count - 1]))
		count--;
	return count;
}

static void copy_design_effect(const struct experiment *from, struct experiment *halves)
{
	if (!from->design_effect)
		return;
	halves->design_effect = memory_zeroed(halves->row_count + 1, sizeof(*halves->design_effect));
	memcpy(halves->design_effect, from->design_effect, halves->row_count * sizeof(double));
}

static void aa_split(const struct experiment *from, struct experiment *halves)
{
	const struct experiment_side *base = &from->sides[DIFF_BASE];

	halves->row_count = rows_of_functions(from);
	halves->rows = memory_zeroed(halves->row_count + 1, sizeof(*halves->rows));
	memcpy(halves->rows, from->rows, halves->row_count * sizeof(*halves->rows));
	copy_design_effect(from, halves);
	for (size_t side = 0; side < DIFF_SIDES; side++) {
		struct experiment_side *half = &halves->sides[side];

		half->unit_count = (base->unit_count + 1 - side) / 2;
		half->sample_weight = base->sample_weight;
		half->values = memory_zeroed((halves->row_count + 1) * half->unit_count, sizeof(*half->values));
		if (base->work)
			half->work = memory_alloc((half->unit_count + 1) * sizeof(double));
		for (size_t unit = 0; half->work && unit < half->unit_count; unit++)
			half->work[unit] = base->work[2 * unit + side];
		for (size_t row = 0; row < halves->row_count; row++) {
			for (size_t unit = 0; unit < half->unit_count; unit++)
				half->values[row * half->unit_count + unit] =
					base->values[row * base->unit_count + 2 * unit + side];
		}
	}
}

static void run_model(
	struct experiment *halves, enum diff_evidence_mode mode, bool as_share, struct row_result *results)
{
	CLEANUP(speed_deinit) struct speed speed = { 0 };
	struct moderation moderation;
	double units = (double)halves->sides[DIFF_BASE].unit_count / (double)halves->sides[DIFF_HEAD].unit_count;

	if (mode == DIFF_EVIDENCE_RUNS) {
		speed_measure(halves, NAN, &speed);
		halves->factor = units * exp(-speed.delta);
		evidence_runs(halves, &speed, SPEED_ADJUST, &moderation, results);
		return;
	}
	/*
	 * The factor is the ratio of the totals: one made of functions with few samples a block would vary more than
	 * the blocks do.
	 */
	halves->factor = halves->sides[DIFF_BASE].work ? work_sum(halves, DIFF_BASE) / work_sum(halves, DIFF_HEAD)
			 : as_share ? experiment_sum(halves, DIFF_BASE, 0) / experiment_sum(halves, DIFF_HEAD, 0)
				    : units;
	evidence_single(halves, as_share, &(struct process_floor){ 0 }, results);
}

static void count_functions(struct diff_build *build, const struct experiment *halves, const struct row_result *results)
{
	struct diff *diff = build->diff;
	double least = build->options.min_effect_points / 100 * fmax(results[0].base, results[0].head);
	uint32_t last = PROFILE_NONE, last_flagged = PROFILE_NONE;

	/* The rows of a function follow each other. */
	for (size_t row = 1; row < halves->row_count; row++) {
		const struct row *r = &halves->rows[row];

		diff->evidence.aa_functions += r->id != last;
		last = r->id;
		if (states_found(&results[row], build->options.q, least) && last_flagged != r->id) {
			diff->evidence.aa_false_flags++;
			last_flagged = r->id;
		}
	}
}

void aa_test(struct diff_build *build, const struct experiment *experiment, enum diff_evidence_mode mode)
{
	CLEANUP(experiment_deinit) struct experiment halves = { 0 };
	CLEANUP(cleanup_free) struct row_result *results = memory_alloc((experiment->row_count + 1) * sizeof(*results));
	bool as_share = build->diff->scale.mode == DIFF_SCALE_ROBUST || build->diff->scale.mode == DIFF_SCALE_SHARE;
	double alpha;

	if (experiment->sides[DIFF_BASE].unit_count < MIN_UNITS)
		return;
	aa_split(experiment, &halves);
	experiment_finish(&halves);
	run_model(&halves, mode, as_share, results);
	bh_adjust(&halves, &(struct family){ GROUP_FUNCTIONS, false, false }, build->options.q, results, &alpha);
	build->diff->evidence.aa_done = true;
	count_functions(build, &halves, results);
}
