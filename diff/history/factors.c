/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/build.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>

/*
 * Finds the factors that make the values of profiles comparable: one factor for each.
 *
 * Where nobody counted the work, the factor is the median of ratios (Anders and Huber 2010) of functions to what they
 * typically are in the series, as diff/statistics/load.h has it for two profiles. It assumes that most of the program's
 * time is in functions that do the same work for each unit of load in all profiles. Functions of the program's own
 * unchanged code are taken for it where there are enough of them.
 */

enum { FACTOR_ROUNDS = 4 };

/* The largest ones tell the load: thousands of small ones would take time, and add little. */
enum { MAX_CONTROLS = 300 };

/* Factors that move by less are what they will be. */
static const double settled = 1e-3;

/* Relative standard deviation of a function between two processes, so that one large function alone does not decide. */
static const double process_rsd = 0.05;

enum control_kind { CONTROL_OWN_SAME, CONTROL_SAME, CONTROL_ALL };

struct factors_control {
	uint64_t fingerprint;
	double share; /* mean of its share of a profile's total */
	size_t there; /* in how many profiles it has enough samples */
	bool is_same; /* its code is known in all profiles that have it, and the same */
	bool is_chosen;
	double typical; /* its typical value at the load of the series */
};

struct factors_controls {
	const struct history *history;
	const struct history_series *series;
	struct factors_control *items; /* owned; [function] */
	struct weighted_value *ratios; /* owned; [function] scratch */
};

static bool counts_requests(const struct history *history, const struct history_series *series)
{
	const struct summary *first = series_summary(history, series, 0);

	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		if (summary->work == PROFILE_WORK_UNKNOWN || summary->work != first->work ||
			summary->work_event != first->work_event || !(summary->requests >= diff_min_requests))
			return false;
	}
	return true;
}

static bool has_whole_commands(const struct history *history, const struct history_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		if (!summary->whole_commands || summary->runs == 0)
			return false;
	}
	return true;
}

/* ---- The robust factor ---- */

/* Samples of a function, as far as its error tells: a count's standard error is its root. */
static double factors_samples_of(const struct summary_row *row)
{
	return row->self_error > 0 ? pow(row->self / row->self_error, 2) : INFINITY;
}

static bool factors_is_candidate(const struct summary_row *row, const struct summary_set *set)
{
	return row->self > 0 && !set->functions[row->function].interrupt &&
	       factors_samples_of(row) >= diff_min_ratio_samples;
}

static void controls_collect(struct factors_controls *controls)
{
	const struct history *history = controls->history;

	for (size_t i = 0; i < controls->series->count; i++) {
		const struct summary *summary = series_summary(history, controls->series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];
			struct factors_control *control = &controls->items[row->function];

			if (!factors_is_candidate(row, history->set))
				continue;
			if (control->there++ == 0) {
				control->fingerprint = row->fingerprint;
				control->is_same = row->fingerprint != 0;
			}
			control->is_same &= row->fingerprint == control->fingerprint;
			control->share += row->self / summary->total / (double)controls->series->count;
		}
	}
}

/* A control is there in most profiles: else it has no typical value. */
static bool factors_is_of_kind(const struct factors_controls *controls, uint32_t function, enum control_kind kind)
{
	const struct factors_control *control = &controls->items[function];

	if (control->there * 2 <= controls->series->count)
		return false;
	if (kind == CONTROL_OWN_SAME && controls->history->set->functions[function].origin != PROFILE_ORIGIN_USER)
		return false;
	return kind == CONTROL_ALL || control->is_same;
}

static size_t controls_choose(struct factors_controls *controls)
{
	size_t functions = controls->history->set->function_count, chosen = 0;

	for (int kind = CONTROL_OWN_SAME; kind <= CONTROL_ALL; kind++) {
		double share = 0;

		chosen = 0;
		for (uint32_t f = 0; f < functions; f++) {
			struct factors_control *control = &controls->items[f];

			control->is_chosen = factors_is_of_kind(controls, f, (enum control_kind)kind);
			chosen += control->is_chosen;
			share += control->is_chosen ? control->share : 0;
		}
		if (chosen >= DIFF_MIN_CONTROLS && share >= diff_min_control_share)
			break;
	}
	return chosen;
}

static int by_falling_share(const void *a, const void *b)
{
	return ORDER(*(const double *)b, *(const double *)a);
}

static void controls_keep_largest(struct factors_controls *controls, size_t chosen)
{
	size_t functions = controls->history->set->function_count, count = 0;
	CLEANUP(cleanup_free) double *shares = memory_alloc((chosen + 1) * sizeof(*shares));

	if (chosen <= MAX_CONTROLS)
		return;
	for (size_t f = 0; f < functions; f++)
		if (controls->items[f].is_chosen)
			shares[count++] = controls->items[f].share;
	qsort(shares, count, sizeof(*shares), by_falling_share);
	for (size_t f = 0; f < functions; f++)
		controls->items[f].is_chosen &= controls->items[f].share >= shares[MAX_CONTROLS - 1];
}

/* Finds the typical value of each control at the present factors: the median of the profiles that have enough of it. */
static void controls_typify(struct factors_controls *controls)
{
	const struct history_series *series = controls->series;
	size_t functions = controls->history->set->function_count, total = 0;
	CLEANUP(cleanup_free) size_t *starts = memory_zeroed(functions + 1, sizeof(*starts));
	CLEANUP(cleanup_free) struct weighted_value *values = NULL;

	for (size_t f = 0; f < functions; f++) {
		starts[f] = total;
		total += controls->items[f].is_chosen ? controls->items[f].there : 0;
	}
	values = memory_zeroed(total + 1, sizeof(*values));
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(controls->history, series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];

			if (controls->items[row->function].is_chosen &&
				factors_is_candidate(row, controls->history->set))
				values[starts[row->function]++] =
					(struct weighted_value){ row->self * series->factor[i], 1 };
		}
	}
	for (size_t f = 0; f < functions; f++) {
		struct factors_control *control = &controls->items[f];

		if (control->is_chosen)
			control->typical = weighted_median(&values[starts[f] - control->there], control->there);
	}
}

static double factor_of(struct factors_controls *controls, size_t at)
{
	const struct summary *summary = series_summary(controls->history, controls->series, at);
	size_t count = 0;

	for (size_t r = 0; r < summary->row_count; r++) {
		const struct summary_row *row = &summary->rows[r];

		if (controls->items[row->function].is_chosen && factors_is_candidate(row, controls->history->set))
			controls->ratios[count++] = (struct weighted_value){
				log(controls->items[row->function].typical / row->self),
				1 / (1 / factors_samples_of(row) + 2 * process_rsd * process_rsd),
			};
	}
	return count ? exp(weighted_median(controls->ratios, count)) : 0;
}

/* Starts at equal totals, and takes turns: what functions typically are, and by how much each profile is off that. */
static void fill_robust(const struct history *history, struct history_series *series, bool *has_controls)
{
	size_t functions = history->set->function_count, chosen;
	CLEANUP(cleanup_free) struct factors_control *items = memory_zeroed(functions + 1, sizeof(*items));
	CLEANUP(cleanup_free) struct weighted_value *ratios = memory_alloc((functions + 1) * sizeof(*ratios));
	struct factors_controls controls = { history, series, items, ratios };

	controls_collect(&controls);
	chosen = controls_choose(&controls);
	*has_controls = chosen >= DIFF_MIN_CONTROLS;
	if (!*has_controls)
		return;
	controls_keep_largest(&controls, chosen);
	for (int round = 0; round < FACTOR_ROUNDS; round++) {
		double moved = 0;

		controls_typify(&controls);
		for (size_t i = 0; i < series->count; i++) {
			double factor = factor_of(&controls, i);

			if (factor > 0) {
				moved = fmax(moved, fabs(log(factor / series->factor[i])));
				series->factor[i] = factor;
			}
		}
		if (moved < settled)
			break;
	}
}

/* ---- All scales ---- */

static void fill_typical_total(const struct history *history, struct history_series *series)
{
	CLEANUP(cleanup_free) struct weighted_value *totals = memory_alloc(series->count * sizeof(*totals));

	for (size_t i = 0; i < series->count; i++)
		totals[i] = (struct weighted_value){ series_summary(history, series, i)->total * series->factor[i], 1 };
	series->typical_total = weighted_median(totals, series->count);
	if (!(series->typical_total > 0))
		series->typical_total = 1;
}

bool factors_fill(struct history_build *build, struct history_series *series, struct error *err)
{
	struct history *history = build->history;
	bool has_controls = true;

	series->factor = memory_zeroed(series->count, sizeof(*series->factor));
	series->scale = counts_requests(history, series)      ? DIFF_SCALE_PER_REQUEST
			: has_whole_commands(history, series) ? DIFF_SCALE_PER_RUN
							      : DIFF_SCALE_ROBUST;
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);
		double work = series->scale == DIFF_SCALE_PER_REQUEST ? summary->requests
			      : series->scale == DIFF_SCALE_PER_RUN   ? (double)summary->runs
								      : summary->total;

		series->factor[i] = work > 0 ? 1 / work : 0;
	}
	if (series->scale == DIFF_SCALE_ROBUST)
		fill_robust(history, series, &has_controls);
	if (!has_controls &&
		!notices_add(history, &series->notices, &series->notice_count, err,
			"Too few functions are in most profiles: values are shares of each profile's total."))
		return false;
	fill_typical_total(history, series);
	return true;
}

void factors_speed(const struct history *history, const struct history_series *series, double *speed, bool *is_known)
{
	struct history_series robust = *series;

	robust.factor = speed;
	for (size_t i = 0; i < series->count; i++)
		speed[i] = 1 / fmax(series_summary(history, series, i)->total, 1);
	fill_robust(history, &robust, is_known);
	for (size_t i = 0; i < series->count; i++)
		speed[i] = log(series->factor[i] / speed[i]);
}
