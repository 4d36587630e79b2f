/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/placement.h"

#include "diff/constants.h"
#include "diff/match/code.h"
#include "diff/metric.h"
#include "diff/probability/probability.h"
#include "diff/statistics/basis.h"
#include "diff/statistics/layouts.h"

#include <math.h>
#include <stdlib.h>

/* ---- What placement does ---- */

bool placement_explains(double effect, double error)
{
	return fabs(effect) - error <= placement_most_effect;
}

bool placement_explains_by_layouts(double effect, double rsd)
{
	return fabs(effect) <= placement_most_spreads * rsd;
}

void placement_estimate_add(struct placement_estimate *estimate, double effect, double variance, double size)
{
	double weight = size / pow(variance + estimate->known_rsd * estimate->known_rsd, 2);

	estimate->sum += weight * (effect * effect - variance);
	estimate->weights += weight;
	estimate->squares += weight * weight;
	estimate->count++;
}

bool placement_estimate_finish(const struct placement_estimate *estimate, double *variance, double *freedom)
{
	if (!(estimate->weights > 0))
		return false;
	*variance = fmax(estimate->sum / estimate->weights, 0);
	*freedom = estimate->weights * estimate->weights / estimate->squares + placement_known_freedom;
	return true;
}

/* The placed part of a function's time, or of a node's with all below it. */
struct placing {
	double size;         /* scaled, of both sides */
	double squares;      /* sum of squares of the times of its functions that were linked anew */
	double contribution; /* of placed functions to the difference */
};

struct placement_placed {
	struct diff_build *build;
	bool *is_relinked;         /* owned: [function] its module was linked anew */
	bool *is_placed;           /* owned: [function] */
	struct placing *functions; /* owned: [function] its self time; `size` is that of all its nodes */
	struct placing *nodes;     /* owned: [node] with all below it */
	struct placing *totals;    /* owned: [function] with all it calls */
	struct placing whole;
};

static void placed_deinit(struct placement_placed *placed)
{
	free(placed->is_relinked);
	free(placed->is_placed);
	free(placed->functions);
	free(placed->nodes);
	free(placed->totals);
}

/* ---- Which functions are placed ---- */

static bool is_machine_code(const struct diff_function *f)
{
	return f->name_source != PROFILE_NAME_JIT && f->name_source != PROFILE_NAME_KALLSYMS &&
	       f->name_source != PROFILE_NAME_IMPORTED && !f->interrupt && f->interprets == PROFILE_LANGUAGE_NATIVE;
}

static void statistics_placement_find_relinked(struct placement_placed *placed)
{
	const struct diff *diff = placed->build->diff;
	size_t strings = string_table_count(diff->strings);
	enum { UNASKED, IS_NOT, IS };
	CLEANUP(cleanup_free) uint8_t *modules = memory_zeroed(strings + 1, 1);

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (!is_machine_code(f) || f->module == 0)
			continue;
		if (modules[f->module] == UNASKED)
			modules[f->module] = code_module_is_relinked(placed->build, f->module) ? IS : IS_NOT;
		placed->is_relinked[i] = modules[f->module] == IS;
	}
}

/* Returns whether the function may do other work than in base, or call others more often. */
static bool may_be_changed(const struct placement_placed *placed, uint32_t function)
{
	const struct diff_function *f = &placed->build->diff->functions[function];

	if (f->interrupt)
		return false;
	return f->code == DIFF_CODE_CHANGED || (f->code == DIFF_CODE_UNKNOWN && placed->is_relinked[function]) ||
	       (f->code == DIFF_CODE_UNKNOWN && f->name_source == PROFILE_NAME_JIT);
}

static double node_self(const struct diff *diff, enum diff_side side, size_t node)
{
	return diff->node_self[side][node] * (side == DIFF_HEAD ? diff->scale.factor : 1);
}

static double node_size(const struct diff *diff, size_t node)
{
	return node_self(diff, DIFF_BASE, node) + node_self(diff, DIFF_HEAD, node);
}

/* Returns an array: [function] placement does not explain the difference of its self time, as far as runs know that. */
static bool *find_unexplained(
	const struct diff_build *build, const struct experiment *experiment, const struct row_result *results)
{
	bool *unexplained = memory_zeroed(build->diff->function_count + 1, sizeof(*unexplained));

	for (size_t i = 0; unexplained && i < experiment->row_count; i++) {
		const struct row_result *result = &results[i];

		if (experiment->rows[i].kind != ROW_SELF || !result->tested)
			continue;
		unexplained[experiment->rows[i].id] =
			experiment->units_are_layouts
				? !placement_explains_by_layouts(result->effect, layouts_spread(experiment, i))
				: !placement_explains(result->effect, tail_normal_95 * sqrt(result->variance));
	}
	return unexplained;
}

/* Nodes are in preorder: what is above a node comes before it. */
static void find_placed(
	struct placement_placed *placed, const struct experiment *experiment, const struct row_result *results)
{
	const struct diff *diff = placed->build->diff;
	CLEANUP(cleanup_free) bool *unexplained = find_unexplained(placed->build, experiment, results);
	CLEANUP(cleanup_free) bool *below_changed = memory_zeroed(diff->node_count + 1, sizeof(*below_changed));
	CLEANUP(cleanup_free) double *below = memory_zeroed(diff->function_count + 1, sizeof(*below));

	for (size_t node = 1; node < diff->node_count; node++) {
		uint32_t parent = diff->nodes[node].parent, function = diff->nodes[node].function;

		below_changed[node] =
			below_changed[parent] || (parent > 0 && may_be_changed(placed, diff->nodes[parent].function));
		placed->functions[function].size += node_size(diff, node);
		below[function] += below_changed[node] ? node_size(diff, node) : 0;
	}
	for (size_t i = 0; i < diff->function_count; i++)
		placed->is_placed[i] = placed->is_relinked[i] && diff->functions[i].code == DIFF_CODE_SAME &&
				       !unexplained[i] &&
				       below[i] <= placement_most_below_changed * placed->functions[i].size;
}

/* ---- What rows have of them ---- */

static void add_placing(struct placing *to, const struct placing *from)
{
	to->size += from->size;
	to->squares += from->squares;
	to->contribution += from->contribution;
}

/*
 * A function lies in one place however many nodes it has, so that their times count with that of all of it: in a
 * subtree that has a part of them this is an upper bound.
 */
static void statistics_placement_sum_nodes(struct placement_placed *placed)
{
	const struct diff *diff = placed->build->diff;

	placed->nodes = memory_zeroed(diff->node_count + 1, sizeof(*placed->nodes));
	placed->totals = memory_zeroed(diff->function_count + 1, sizeof(*placed->totals));
	for (size_t node = diff->node_count; node-- > 1;) {
		uint32_t function = diff->nodes[node].function;
		struct placing own = { .size = node_size(diff, node) };

		if (placed->is_relinked[function])
			own.squares = own.size * placed->functions[function].size;
		if (placed->is_placed[function])
			own.contribution = node_self(diff, DIFF_HEAD, node) - node_self(diff, DIFF_BASE, node);
		add_placing(&placed->nodes[node], &own);
		if (!(diff->nodes[node].flags & DIFF_NODE_INTERRUPT))
			add_placing(&placed->nodes[diff->nodes[node].parent], &placed->nodes[node]);
		if (placed->build->topmost[node])
			add_placing(&placed->totals[function], &placed->nodes[node]);
	}
	placed->whole = placed->nodes[0];
}

static struct placing placing_of(const struct placement_placed *placed, const struct row *row)
{
	const struct diff *diff = placed->build->diff;
	struct placing self = { 0 };

	switch (row->kind) {
	case ROW_WHOLE:
		return placed->whole;
	case ROW_TOTAL:
		return placed->totals[row->id];
	case ROW_NODE:
		return placed->nodes[row->id];
	case ROW_SELF:
		self.size = placed->functions[row->id].size;
		self.squares = placed->is_relinked[row->id] ? self.size * self.size : 0;
		self.contribution = placed->is_placed[row->id] ? diff->functions[row->id].self.delta : 0;
		return self;
	}
	return self;
}

/* ---- The estimate ---- */

static void statistics_placement_estimate(const struct placement_placed *placed, const struct experiment *experiment,
	const struct row_result *results, struct diff_placement *placement)
{
	struct placement_estimate made = { .known_rsd = placement_known_rsd };

	for (size_t i = 0; i < experiment->row_count; i++) {
		const struct row *row = &experiment->rows[i];
		const struct row_result *result = &results[i];

		if (row->kind == ROW_SELF && placed->is_placed[row->id] && result->tested)
			placement_estimate_add(
				&made, result->judged, result->variance, placed->functions[row->id].size);
	}
	placement->functions = made.count;
	/* Several layouts show what they do by themselves. */
	if (!placement->is_of_layouts)
		(void)placement_estimate_finish(&made, &placement->variance, &placement->freedom);
}

/* Returns the share of changed code in the time of the program, interrupts aside. */
static double changed_share(const struct placement_placed *placed)
{
	const struct diff *diff = placed->build->diff;
	double changed = 0, all = diff->total.base + diff->total.head;

	for (size_t node = 1; node < diff->node_count; node++)
		if (!(diff->nodes[node].flags & DIFF_NODE_INTERRUPT) &&
			may_be_changed(placed, diff->nodes[node].function))
			changed += node_size(diff, node);
	return all > 0 ? changed / all : 1;
}

/* ---- Rows ---- */

/*
 * Widens the interval as the variance grows. Returns the degrees of freedom (Satterthwaite 1946), of which the variance
 * of runs has as many as one can have.
 */
static double statistics_placement_widen(struct row_result *result, double extra, double extra_freedom)
{
	double sum = result->variance + extra, wider = sqrt(sum / result->variance);

	if (!(extra > 0))
		return INFINITY;
	result->low = result->effect + (result->low - result->effect) * wider;
	result->high = result->effect + (result->high - result->effect) * wider;
	result->variance = sum;
	return sum * sum * extra_freedom / (extra * extra);
}

static double concentration_of(const struct placing *placing)
{
	return fmin(placing->squares / (placing->size * placing->size), 1);
}

/* Returns what is left of a row's difference without that of placed functions; 0: nothing, or it turns. */
static double without_placed(const struct row_result *result, double contribution)
{
	double head = result->head - contribution;
	double off = head > 0 ? log(result->head / head) : INFINITY;

	/* Placed functions that differ the other way hide a change; nothing is proven by what they hide. */
	if (off * result->judged <= 0)
		return result->judged;
	return fabs(off) >= fabs(result->judged) ? 0 : result->judged - off;
}

/* `left`: what is judged of the row, as a logarithm. */
static void statistics_placement_judge_row(
	const struct diff_placement *placement, double concentration, double left, struct row_result *result)
{
	double freedom = statistics_placement_widen(result, concentration * placement->variance, placement->freedom);

	result->p = fmax(result->p, tail_two_sided(left / sqrt(result->variance), freedom));
}

static void weigh_row(const struct placement_placed *placed, const struct diff_placement *placement,
	const struct row *row, struct row_result *result)
{
	struct placing placing = placing_of(placed, row);

	if (!result->tested || !(placing.size > 0))
		return;
	statistics_placement_judge_row(
		placement, concentration_of(&placing), without_placed(result, placing.contribution), result);
}

/* Groups of samples are no functions: they vary as the whole does. */
static void weigh_groups(
	const struct experiment *experiment, const struct diff_placement *placement, struct row_result *results)
{
	for (size_t i = 0; i < experiment->row_count; i++) {
		struct row_result *result = &results[i];

		if (result->tested)
			statistics_placement_judge_row(placement, placement->concentration,
				experiment_is_whole(experiment, i) ? placement->left : result->judged, result);
	}
}

static void placed_init(struct placement_placed *placed, struct diff_build *build, const struct experiment *experiment,
	const struct row_result *results)
{
	size_t count = build->diff->function_count;

	*placed = (struct placement_placed){ .build = build };
	placed->is_relinked = memory_zeroed(count + 1, sizeof(*placed->is_relinked));
	placed->is_placed = memory_zeroed(count + 1, sizeof(*placed->is_placed));
	placed->functions = memory_zeroed(count + 1, sizeof(*placed->functions));
	statistics_placement_find_relinked(placed);
	find_placed(placed, experiment, results);
	statistics_placement_sum_nodes(placed);
}

static bool statistics_placement_is_placeable(const struct diff_build *build)
{
	return build->diff->evidence.mode == DIFF_EVIDENCE_RUNS && build->diff->waiting != DIFF_WAITING_ALL &&
	       metric_is_time(build);
}

static struct diff_placement placement_of_whole(
	const struct placement_placed *placed, const struct experiment *experiment, const struct row_result *results)
{
	struct diff_placement placement = { .is_of_layouts = experiment->units_are_layouts,
		.p = results[0].tested ? results[0].p : 1,
		.left = without_placed(&results[0], placed->whole.contribution),
		.contribution = placed->whole.contribution,
		.changed_share = changed_share(placed) };

	statistics_placement_estimate(placed, experiment, results, &placement);
	if (placed->whole.size > 0)
		placement.concentration = concentration_of(&placed->whole);
	placement.is_wide = placement.concentration * placement.variance > placement_wide * results[0].variance;
	return placement;
}

static void statistics_placement_describe(const struct diff_build *build, const struct diff_placement *placement)
{
	struct diff_layouts *layouts = &build->diff->layouts;

	layouts->same_code_functions = placement->functions;
	layouts->same_code_rsd =
		placement->functions > 0 && !placement->is_of_layouts ? sqrt(placement->variance) : NAN;
	layouts->widens = placement->is_wide;
}

void placement_weigh(struct diff_build *build, const struct experiment *experiment, struct row_result *results)
{
	CLEANUP(placed_deinit) struct placement_placed placed = { 0 };
	const struct diff_placement *placement = &basis_of(build->diff)->placement;

	if (!statistics_placement_is_placeable(build))
		return;
	if (build->is_grouped) {
		weigh_groups(experiment, placement, results);
		statistics_placement_describe(build, placement);
		return;
	}
	placed_init(&placed, build, experiment, results);
	if (basis_own(build))
		basis_own(build)->placement = placement_of_whole(&placed, experiment, results);
	for (size_t i = 0; i < experiment->row_count; i++) {
		const struct row *row = &experiment->rows[i];

		if (row->kind == ROW_SELF && placed.is_placed[row->id])
			build->diff->functions[row->id].is_placement =
				results[i].tested && results[i].p <= placement_marked_p;
		weigh_row(&placed, placement, row, &results[i]);
	}
	statistics_placement_describe(build, placement);
}
