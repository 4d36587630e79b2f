/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/weigh.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"
#include "diff/statistics/basis.h"
#include "diff/statistics/load.h"
#include "diff/statistics/runtime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The profiles of a side, as the model has them: runs, or one recording and its second half. */
struct weigh_side {
	size_t profiles;
	double *work;    /* owned: [profile] times the factor that the profile's rows have in common */
	double *counted; /* owned: [profile] without that */
	double late;     /* of the second half of a single recording; 0: there is none */
};

struct weigh {
	struct diff_build *build;
	const struct experiment *experiment;
	struct weigh_side sides[DIFF_SIDES];
	/* Owned, [row * profiles + profile]: the row's samples, and those of what inlining leaves its time in. */
	double *samples[DIFF_SIDES], *conserved[DIFF_SIDES];
	double *late[DIFF_SIDES]; /* owned: [row] */
	uint32_t *callers;        /* owned: [function] from which most of its time is called; PROFILE_NONE: none */
	uint32_t *callees;        /* owned: [function] that may have been inlined into it; PROFILE_NONE: none */
	uint32_t *self_rows, *total_rows; /* owned: [function] its row; PROFILE_NONE: none */
	struct evidence_row *rows;        /* owned */
	struct evidence_factor factor;
	struct evidence_load load;
	struct evidence_exact_priors priors; /* of a simulated program */
};

static void weigh_deinit(struct weigh *w)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(w->sides[side].work);
		free(w->sides[side].counted);
		free(w->samples[side]);
		free(w->conserved[side]);
		free(w->late[side]);
	}
	free(w->callers);
	free(w->callees);
	free(w->self_rows);
	free(w->total_rows);
	free(w->rows);
}

/* Blocks of time are parts of one recording, and no replicates of it. */
static bool weigh_is_by_time(const struct weigh *w)
{
	return w->build->diff->evidence.mode == DIFF_EVIDENCE_SINGLE;
}

static bool weigh_is_late(const struct weigh *w, enum diff_side side, size_t unit)
{
	return weigh_is_by_time(w) && unit >= w->experiment->sides[side].unit_count / 2;
}

/* ---- Samples and work ---- */

/* Returns the raw value of a sample. Where nobody knows it, values are taken to have no counting noise. */
static double weigh_sample_value(const struct experiment *experiment, enum diff_side side, size_t row)
{
	double weight = experiment_sample_weight(experiment, side, row);

	return weight > 0 ? weight : fmax(experiment_sum(experiment, DIFF_BASE, 0), 1) / diff_uncounted_samples;
}

/* Fills the work of a side. No change makes head's raw sum, times the factor, base's. */
static void weigh_fill_work(struct weigh *w, enum diff_side side)
{
	const struct experiment *experiment = w->experiment;
	const struct experiment_side *s = &experiment->sides[side];
	struct weigh_side *own = &w->sides[side];
	double all = 0, whole = 1;

	if (side == DIFF_HEAD)
		whole = weigh_sample_value(experiment, DIFF_BASE, 0) /
			(weigh_sample_value(experiment, DIFF_HEAD, 0) * experiment->factor);
	own->profiles = weigh_is_by_time(w) ? 1 : s->unit_count;
	own->work = memory_zeroed(own->profiles + 1, sizeof(*own->work));
	own->counted = memory_zeroed(own->profiles + 1, sizeof(*own->counted));
	for (size_t unit = 0; unit < s->unit_count; unit++)
		all += s->work ? fmax(s->work[unit], 1) : 1;
	for (size_t unit = 0; unit < s->unit_count; unit++) {
		double work = (s->work ? fmax(s->work[unit], 1) : 1) * whole / all;

		own->counted[weigh_is_by_time(w) ? 0 : unit] += work;
		own->late += weigh_is_late(w, side, unit) ? work : 0;
	}
	memcpy(own->work, own->counted, own->profiles * sizeof(*own->work));
}

static void weigh_fill_samples(struct weigh *w, enum diff_side side)
{
	const struct experiment *experiment = w->experiment;
	size_t profiles = w->sides[side].profiles;

	w->samples[side] = memory_zeroed(experiment->row_count * profiles + 1, sizeof(double));
	w->conserved[side] = memory_zeroed(experiment->row_count * profiles + 1, sizeof(double));
	w->late[side] = memory_zeroed(experiment->row_count + 1, sizeof(double));
	for (size_t row = 0; row < experiment->row_count; row++) {
		const double *values = experiment_values(experiment, side, row);
		double value = weigh_sample_value(experiment, side, row);

		for (size_t unit = 0; unit < experiment->sides[side].unit_count; unit++) {
			w->samples[side][row * profiles + (weigh_is_by_time(w) ? 0 : unit)] += values[unit] / value;
			w->late[side][row] += weigh_is_late(w, side, unit) ? values[unit] / value : 0;
		}
	}
}

/* ---- What inlining conserves ---- */

struct weigh_call {
	uint32_t function, caller;
};

/* Finds for each function the one from which half of its time or more is called. */
static void weigh_find_callers(struct weigh *w)
{
	static const double least_share = .5;
	const struct diff *diff = w->build->diff;
	CLEANUP(cleanup_free) double *times = memory_zeroed(diff->node_count + 1, sizeof(*times));
	struct hash_map calls;

	hash_map_init(&calls, sizeof(struct weigh_call));
	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t parent = diff->nodes[node].parent, function = diff->nodes[node].function, *slot;
		const struct diff_estimate *total = &diff->functions[function].total;
		struct weigh_call call = { function, parent == 0 ? PROFILE_NONE : diff->nodes[parent].function };
		bool added;

		if (parent == 0 || call.caller == function || !w->build->topmost[node])
			continue;
		slot = hash_map_enter(&calls, &call, node, &added);
		times[*slot] +=
			diff->node_total[DIFF_BASE][node] + diff->node_total[DIFF_HEAD][node] * diff->scale.factor;
		if (times[*slot] >= least_share * (total->base + total->head))
			w->callers[function] = call.caller;
	}
	hash_map_deinit(&calls);
}

static void weigh_index_rows(struct weigh *w)
{
	size_t bytes = (w->build->diff->function_count + 1) * sizeof(uint32_t);

	w->callers = memory_alloc(bytes);
	w->callees = memory_alloc(bytes);
	w->self_rows = memory_alloc(bytes);
	w->total_rows = memory_alloc(bytes);
	memset(w->callers, 0xff, bytes);
	memset(w->callees, 0xff, bytes);
	memset(w->self_rows, 0xff, bytes);
	memset(w->total_rows, 0xff, bytes);
	for (uint32_t i = 0; i < w->experiment->row_count; i++) {
		const struct row *row = &w->experiment->rows[i];

		if (row->kind == ROW_SELF)
			w->self_rows[row->id] = i;
		else if (row->kind == ROW_TOTAL)
			w->total_rows[row->id] = i;
	}
}

/* Finds for each function the compiled one below it that changed most in the other direction. */
static void weigh_find_callees(struct weigh *w)
{
	const struct diff *diff = w->build->diff;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		uint32_t caller = w->callers[i], *callee;
		double delta = diff->functions[i].self.delta;

		if (caller == PROFILE_NONE || !diff->functions[i].by_tier || w->self_rows[i] == PROFILE_NONE)
			continue;
		callee = &w->callees[caller];
		if (delta * diff->functions[caller].self.delta < 0 &&
			(*callee == PROFILE_NONE || fabs(delta) > fabs(diff->functions[*callee].self.delta)))
			*callee = i;
	}
}

static void weigh_add_conserved(struct weigh *w, uint32_t row, uint32_t other)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t profiles = w->sides[side].profiles;

		for (size_t i = 0; i < profiles; i++)
			w->conserved[side][row * profiles + i] += w->samples[side][other * profiles + i];
	}
}

static bool weigh_is_one_sided(const struct weigh *w, uint32_t row)
{
	return !(
		experiment_sum(w->experiment, DIFF_BASE, row) > 0 && experiment_sum(w->experiment, DIFF_HEAD, row) > 0);
}

/*
 * A total is part of its caller's, inlined or not. Self time becomes the caller's: the two, and what may be inlined
 * into the function in turn, are conserved together.
 */
static bool weigh_conserve_row(struct weigh *w, uint32_t row)
{
	const struct row *r = &w->experiment->rows[row];
	uint32_t function = r->kind == ROW_NODE ? w->build->diff->nodes[r->id].function : r->id;
	uint32_t caller = w->callers[function], callee = w->callees[function], of_caller, of_callee;
	const uint32_t *rows = r->kind == ROW_SELF ? w->self_rows : w->total_rows;

	of_caller = caller == PROFILE_NONE ? PROFILE_NONE : rows[caller];
	of_callee = r->kind == ROW_SELF && callee != PROFILE_NONE ? w->self_rows[callee] : PROFILE_NONE;
	if (of_caller == PROFILE_NONE && of_callee == PROFILE_NONE)
		return false;
	if (r->kind == ROW_SELF)
		weigh_add_conserved(w, row, row);
	if (of_caller != PROFILE_NONE)
		weigh_add_conserved(w, row, of_caller);
	if (of_callee != PROFILE_NONE)
		weigh_add_conserved(w, row, of_callee);
	w->rows[row].is_inlined =
		weigh_is_one_sided(w, row) || (of_callee != PROFILE_NONE && weigh_is_one_sided(w, of_callee));
	return true;
}

static void weigh_conserve(struct weigh *w, uint32_t row)
{
	const struct row *r = &w->experiment->rows[row];

	if (r->kind == ROW_WHOLE || !r->by_tier || !weigh_conserve_row(w, row))
		return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t profiles = w->sides[side].profiles;

		w->rows[row].conserved[side] =
			(struct evidence_counts){ w->conserved[side] + row * profiles, w->sides[side].work, profiles };
	}
}

/* ---- Rows ---- */

/* Most of a row's time decides how it varies. */
static enum evidence_class weigh_class_of(const struct weigh *w, const struct row *row)
{
	if (w->build->diff->is_exact)
		return row->kind == ROW_SELF ? EVIDENCE_EXACT : EVIDENCE_EXACT_TOTAL;
	return row->waits > .5 ? EVIDENCE_WAITING : row->by_tier ? EVIDENCE_COMPILED : EVIDENCE_OTHER;
}

static void weigh_make_rows(struct weigh *w)
{
	size_t count = w->experiment->row_count;
	bool is_any_compiled = false;

	w->rows = memory_zeroed(count + 1, sizeof(*w->rows));
	for (size_t i = 0; i < count; i++) {
		struct evidence_row *row = &w->rows[i];

		row->class = weigh_class_of(w, &w->experiment->rows[i]);
		is_any_compiled |= w->experiment->rows[i].by_tier;
		for (int side = 0; side < DIFF_SIDES; side++) {
			const struct weigh_side *s = &w->sides[side];

			row->sides[side] =
				(struct evidence_counts){ w->samples[side] + i * s->profiles, s->work, s->profiles };
			row->late[side] = (struct evidence_counts){ w->late[side] + i, &s->late, s->late > 0 };
		}
	}
	/* Only such code is inlined anew in each process. */
	if (w->build->is_grouped || w->build->diff->is_exact || !is_any_compiled)
		return;
	weigh_index_rows(w);
	weigh_find_callers(w);
	weigh_find_callees(w);
	for (uint32_t i = 0; i < count; i++)
		weigh_conserve(w, i);
}

/* ---- Factors ---- */

static enum evidence_class weigh_class_of_total(const struct diff *diff)
{
	if (diff->is_exact)
		return EVIDENCE_EXACT_TOTAL;
	if (diff->waiting != DIFF_WAITING_NONE)
		return EVIDENCE_WAITING;
	if (diff->scale.mode == DIFF_SCALE_PER_RUN)
		return EVIDENCE_TOTAL_COMMAND;
	return runtime_compiles(runtime_language(diff)) ? EVIDENCE_TOTAL_COMPILED : EVIDENCE_TOTAL;
}

static struct evidence_load weigh_load_of(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	struct evidence_load load = { .totals = weigh_class_of_total(diff),
		.is_apart = diff->evidence.mode == DIFF_EVIDENCE_RUNS && load_is_apart(build->profiles) };
	bool is_known;

	switch (diff->scale.mode) {
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_SHARE:
		load.is_flat = true;
		break;
	case DIFF_SCALE_ROBUST:
		load.variance = build->load.variance + (build->load.is_known ? 0 : evidence_change_variance());
		break;
	case DIFF_SCALE_RATE:
		load.change = load_calls_change(build, &is_known);
		load.variance = is_known ? 0 : evidence_unknown_load_variance();
		break;
	case DIFF_SCALE_PER_REQUEST:
		load.change = load_rate_change(build);
		break;
	case DIFF_SCALE_PER_RUN:
	case DIFF_SCALE_WORK:
		break;
	}
	return load;
}

/* Applies to each profile the factor that its rows have in common, by which the machine was slower, say. */
static void weigh_apply_profiles(struct weigh *w, double *const factors[DIFF_SIDES])
{
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < w->sides[side].profiles; i++)
			w->sides[side].work[i] *= exp(factors[side][i]);
}

static void weigh_find_factors(struct weigh *w, struct basis *own)
{
	CLEANUP(cleanup_free)
	struct evidence_row *selves = memory_alloc((w->experiment->row_count + 1) * sizeof(*selves));
	size_t count = 0;

	for (size_t i = 0; i < w->experiment->row_count; i++)
		if (w->experiment->rows[i].kind == ROW_SELF)
			selves[count++] = w->rows[i];
	own->load_change = weigh_load_of(w->build);
	for (int side = 0; side < DIFF_SIDES; side++)
		own->profile_factors[side] = memory_zeroed(w->sides[side].profiles + 1, sizeof(double));
	/* No machine is in what a simulator counts. */
	if (w->build->diff->is_exact)
		return;
	evidence_profile_factors(selves, count, own->profile_factors);
	weigh_apply_profiles(w, own->profile_factors);
	/* It is the load, which was found in the same way (load.h). */
	if (w->build->diff->scale.mode == DIFF_SCALE_ROBUST)
		own->factor.variance = w->build->load.variance;
	else
		evidence_common_factor(selves, count, &own->load_change, &own->factor);
}

static void weigh_take_factors(struct weigh *w)
{
	struct basis *own = basis_own(w->build);
	const struct basis *basis = basis_of(w->build->diff);

	if (own)
		weigh_find_factors(w, own);
	else
		weigh_apply_profiles(w, basis->profile_factors);
	w->factor = basis->factor;
	w->load = basis->load_change;
}

/* Returns the row's part of the whole on the side where it is larger. */
static double weigh_part_of(const struct experiment *experiment, size_t row)
{
	double part = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const double *whole = experiment_whole(experiment, side);
		double sum = 0;

		for (size_t unit = 0; unit < experiment->sides[side].unit_count; unit++)
			sum += whole[unit];
		if (sum > 0)
			part = fmax(part, experiment_sum(experiment, side, row) / sum);
	}
	return part;
}

/* Finds what is known of how far a simulated program repeats itself, and makes it that of its rows. */
static void weigh_learn_kind(struct weigh *w)
{
	size_t count = w->experiment->row_count, used = 0;
	CLEANUP(cleanup_free) struct evidence_row *selves = memory_alloc((count + 1) * sizeof(*selves));

	for (size_t i = 0; i < count; i++) {
		w->rows[i].part = weigh_part_of(w->experiment, i);
		if (w->rows[i].class == EVIDENCE_EXACT)
			selves[used++] = w->rows[i];
	}
	evidence_learn_kind(selves, used, &w->priors);
	for (size_t i = 0; i < count; i++)
		w->rows[i].priors = w->rows[i].class == EVIDENCE_EXACT ? w->priors.self : w->priors.total;
}

/* ---- Results ---- */

static bool weigh_is_hypothesis(const struct weigh *w, size_t row)
{
	double samples = 0;

	/* Exact counts have no noise of sampling: a row of any size is tested. */
	if (w->build->diff->is_exact)
		return true;
	for (int side = 0; side < DIFF_SIDES; side++)
		samples += experiment_sum(w->experiment, side, row) / weigh_sample_value(w->experiment, side, row);
	return evidence_is_hypothesis(samples, row == 0 ? 1 : weigh_part_of(w->experiment, row));
}

/* Weighs a row beside a factor, of which the measured values have all. */
static void weigh_row(const struct evidence_row *row, const struct evidence_factor *factor, struct row_result *result)
{
	struct evidence evidence;
	double error;

	evidence_weigh_row(row, factor, &evidence);
	evidence_interval(&evidence, &result->low, &result->high);
	error = (result->high - result->low) / 2 / tail_normal_95;
	result->tested = true;
	result->judged = evidence.effect;
	result->effect = evidence.effect + factor->mean;
	result->variance = error * error;
	result->p = evidence.p;
	memcpy(result->samples, evidence.samples, sizeof(result->samples));
}

static void weigh_note_parts(const struct weigh *w, const struct evidence_row *whole)
{
	struct evidence_parts parts = evidence_parts_of_total(whole, &w->load);
	double *variance = w->build->diff->evidence.variance;

	variance[DIFF_VARIANCE_COUNTING] = parts.counting;
	variance[DIFF_VARIANCE_STARTS] = parts.starts;
	variance[DIFF_VARIANCE_LOAD] = parts.load;
	variance[DIFF_VARIANCE_SESSION] = parts.session;
}

/*
 * The whole, and what the program is in all the time, is judged by its load alone: what its rows have in common is what
 * is asked there. How many samples a run has in all is no matter of chance, as which of them a function has is: runs
 * show how far their totals scatter.
 */
static void weigh_whole(const struct weigh *w, size_t of, struct row_result *result)
{
	struct evidence_factor factor = evidence_factor_of_load(&w->load);
	struct evidence_row row = w->rows[of];
	double *samples[DIFF_SIDES];

	row.class = w->load.totals;
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t profiles = w->sides[side].profiles;

		samples[side] = memory_alloc((profiles + 1) * sizeof(**samples));
		memcpy(samples[side], row.sides[side].samples, profiles * sizeof(**samples));
		row.sides[side] = (struct evidence_counts){ samples[side], w->sides[side].counted, profiles };
	}
	if (w->build->diff->evidence.mode == DIFF_EVIDENCE_RUNS)
		evidence_make_certain(
			samples, (const size_t[]){ w->sides[DIFF_BASE].profiles, w->sides[DIFF_HEAD].profiles });
	weigh_row(&row, &factor, result);
	if (of == 0)
		weigh_note_parts(w, &row);
	free(samples[DIFF_BASE]);
	free(samples[DIFF_HEAD]);
}

static void weigh_one(const struct weigh *w, size_t row, struct row_result *results)
{
	struct row_result *result = &results[row];
	size_t twin = w->experiment->rows[row].twin;

	*result = (struct row_result){ .q = NAN, .part = weigh_part_of(w->experiment, row) };
	experiment_scale(w->experiment, row, result);
	if (!weigh_is_hypothesis(w, row))
		return;
	if (experiment_is_whole(w->experiment, row)) {
		weigh_whole(w, row, result);
		result->adjustment = evidence_question_adjustment();
	} else if (twin > 0 && twin < row && results[twin].tested && w->rows[twin].class == w->rows[row].class) {
		*result = results[twin];
	} else {
		weigh_row(&w->rows[row], &w->factor, result);
	}
}

void weigh_rows(struct diff_build *build, const struct experiment *experiment, struct row_result *results)
{
	CLEANUP(weigh_deinit) struct weigh w = { .build = build, .experiment = experiment };

	for (int side = 0; side < DIFF_SIDES; side++) {
		weigh_fill_work(&w, (enum diff_side)side);
		weigh_fill_samples(&w, (enum diff_side)side);
	}
	weigh_make_rows(&w);
	weigh_take_factors(&w);
	if (build->diff->is_exact)
		weigh_learn_kind(&w);
	for (size_t i = 0; i < experiment->row_count; i++)
		weigh_one(&w, i, results);
}

/* ---- Families ---- */

static void weigh_family(
	const struct experiment *experiment, enum row_kind kind, bool changed, struct row_result *results)
{
	size_t count = 0, total = experiment->row_count;
	CLEANUP(cleanup_free) struct evidence_member *members = memory_alloc((total + 1) * sizeof(*members));
	CLEANUP(cleanup_free) size_t *rows = memory_alloc((total + 1) * sizeof(*rows));

	for (size_t i = 0; i < total; i++) {
		const struct row *row = &experiment->rows[i];
		const struct row_result *result = &results[i];

		if (row->kind != kind || row->changed != changed || !result->tested || result->adjustment > 0)
			continue;
		members[count] = (struct evidence_member){ .p = result->p, .part = result->part };
		memcpy(members[count].samples, result->samples, sizeof(result->samples));
		rows[count++] = i;
	}
	evidence_family(members, count);
	for (size_t i = 0; i < count; i++)
		results[rows[i]].q = members[i].q;
}

void weigh_families(const struct experiment *experiment, struct row_result *results)
{
	for (int changed = 0; changed <= 1; changed++)
		for (enum row_kind kind = ROW_WHOLE; kind <= ROW_NODE; kind++)
			weigh_family(experiment, kind, changed, results);
	for (size_t i = 0; i < experiment->row_count; i++)
		if (results[i].adjustment > 0)
			results[i].q = fmin(1, results[i].p * results[i].adjustment);
}
