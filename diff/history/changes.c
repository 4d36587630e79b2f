/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/changes.h"

#include "diff/history/rhythm.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two points that are that near are one: where a change began is known to a profile. */
enum { POINT_RADIUS = 1 };

/* Assumed relative standard deviation of a service's total between two starts of it (diff/statistics/floor.c). */
static const double whole_process_rsd = 0.1;

/* The fact of a point of which nothing else is known. */
static const char started[] = "another process";

/* What is still there is judged at this level, by itself. */
static const double still_there = 0.05;

struct finding {
	struct history_build *build;
	struct history *history;
	struct history_series *series;
	struct tested_rows rows;
	uint32_t *processes;
	bool *is_deploy, *is_barred;
	double process_rsd;
	struct history_candidates candidates;
};

static void finding_deinit(struct finding *f)
{
	rows_deinit(&f->rows);
	free(f->processes);
	free(f->is_deploy);
	free(f->is_barred);
	free(f->candidates.items);
}

/* ---- The search ---- */

/* A deploy that nothing else tells of starts the program anew, unless every profile does. */
static void mark_starts(struct finding *f)
{
	size_t count = f->series->count, starts = 0;

	for (size_t i = 1; f->processes && i < count; i++)
		starts += f->processes[i] != f->processes[i - 1];
	for (size_t i = 1; starts > 0 && starts * 2 < count && i < count; i++)
		f->is_deploy[i] |= f->processes[i] != f->processes[i - 1];
}

static size_t count_known(const struct finding *f)
{
	size_t known = 0;

	for (size_t i = 0; i < f->series->count; i++)
		known += f->is_deploy[i];
	return known;
}

static void history_changes_prepare(struct finding *f)
{
	struct history_series *series = f->series;

	f->is_deploy = memory_zeroed(series->count, sizeof(*f->is_deploy));
	f->is_barred = memory_zeroed(series->count, sizeof(*f->is_barred));
	processes_number(f->history, series, &f->processes);
	for (size_t i = 0; i < series->point_count; i++)
		f->is_deploy[series->points[i].at] = true;
	mark_starts(f);
	for (size_t i = 1; i < series->count; i++) {
		int64_t time = series_summary(f->history, series, i)->start_unix_ns;

		f->is_barred[i] = time != 0 && time == series_summary(f->history, series, i - 1)->start_unix_ns;
	}
	rows_fill(f->build, series, f->is_deploy, &f->rows);
	rhythm_remove(f->build, &f->rows);
	speed_remove(f->build, &f->rows);
	noise_fill(&f->rows);
	processes_number(f->history, series, &f->processes);
	processes_vary(f->history, &f->rows, f->processes, &f->process_rsd);
}

/* Some rows at a time, as threads are free. */
enum { ROWS_AT_A_TIME = 64 };

struct searching {
	const struct history_search *search;
	struct history_candidates *found; /* [stretch of rows] */
};

static void search_stretch(void *context, size_t stretch)
{
	struct searching *s = context;
	size_t end = (stretch + 1) * ROWS_AT_A_TIME, count = s->search->rows->count;

	for (size_t row = stretch * ROWS_AT_A_TIME; row < end && row < count; row++)
		search_row(s->search, (uint32_t)row, &s->found[stretch]);
}

/* Takes the candidates in order of rows, whichever thread found them. */
static void take_candidates(struct finding *f, const struct searching *searching, size_t stretches)
{
	for (size_t i = 0; i < stretches; i++) {
		const struct history_candidates *found = &searching->found[i];

		ARRAY_GROW(&f->candidates.items, &f->candidates.capacity, f->candidates.count + found->count + 1);
		for (size_t k = 0; k < found->count; k++)
			f->candidates.items[f->candidates.count++] = found->items[k];
	}
}

static void search_all(struct finding *f)
{
	struct history_search search = { f->build, &f->rows, f->is_deploy, f->is_barred, f->processes, f->process_rsd,
		whole_process_rsd, f->build->options.q };
	size_t stretches = f->rows.count / ROWS_AT_A_TIME + 1;
	struct searching searching = { &search, memory_zeroed(stretches, sizeof(*searching.found)) };

	work_pool_run(0, stretches, search_stretch, &searching);
	take_candidates(f, &searching, stretches);
	for (size_t i = 0; i < stretches; i++)
		free(searching.found[i].items);
	free(searching.found);
	discovery_adjust(f->history, &f->rows, &f->candidates, count_known(f));
}

/* ---- Points ---- */

static int history_changes_by_p(const void *a, const void *b)
{
	const struct history_candidate *x = a, *y = b;

	return x->p != y->p ? ORDER(x->p, y->p) : x->row != y->row ? ORDER(x->row, y->row) : ORDER(x->at, y->at);
}

static int by_row(const void *a, const void *b)
{
	const struct history_candidate *x = a, *y = b;

	return x->row != y->row ? ORDER(x->row, y->row) : ORDER(x->at, y->at);
}

static int history_changes_by_at(const void *a, const void *b)
{
	const struct history_point *x = a, *y = b;

	return ORDER(x->at, y->at);
}

static void keep_proven(struct finding *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->candidates.count; i++) {
		if (f->candidates.items[i].q <= f->build->options.q)
			f->candidates.items[kept++] = f->candidates.items[i];
	}
	f->candidates.count = kept;
}

/* Returns the point that is nearest to `at`, within the radius; NULL: there is none. */
static const struct history_point *point_near(const struct history_series *series, size_t at)
{
	const struct history_point *nearest = NULL;

	for (size_t i = 0; i < series->point_count; i++) {
		const struct history_point *point = &series->points[i];
		size_t distance = point->at > at ? point->at - at : at - point->at;

		if (distance == 0)
			return point;
		if (distance <= POINT_RADIUS && !nearest)
			nearest = point;
	}
	return nearest;
}

/* Places the most significant ones first: they know best where a change is, and the others follow them. */
static bool points_place(struct finding *f, struct error *err)
{
	struct history_series *series = f->series;

	if (f->candidates.count > 0)
		qsort(f->candidates.items, f->candidates.count, sizeof(*f->candidates.items), history_changes_by_p);
	for (size_t i = 0; i < f->candidates.count; i++) {
		struct history_candidate *candidate = &f->candidates.items[i];
		const struct history_point *near = point_near(series, candidate->at);
		struct history_point *grown;

		if (near) {
			candidate->at = near->at;
			candidate->is_deploy = f->is_deploy[near->at];
			continue;
		}
		grown = memory_resize(series->points, series->point_count + 1, sizeof(*grown));
		series->points = grown;
		grown[series->point_count] = (struct history_point){ .at = candidate->at };
		if (!facts_changed(f->history, series, candidate->at, &grown[series->point_count].fact, err) ||
			(candidate->is_deploy && !grown[series->point_count].fact &&
				!string_table_add(f->history->strings, started, strlen(started),
					&grown[series->point_count].fact, err)))
			return false;
		series->point_count++;
	}
	if (series->point_count > 0)
		qsort(series->points, series->point_count, sizeof(*series->points), history_changes_by_at);
	return true;
}

static size_t point_at(const struct history_series *series, size_t at)
{
	size_t point = 0;

	while (series->points[point].at != at)
		point++;
	return point;
}

/* ---- Changes of one row ---- */

static struct contrast contrast_between(
	const struct finding *f, const struct tested_row *row, size_t from, size_t at, size_t to)
{
	return contrast_of(&f->rows, row, from, at, to, f->processes,
		row->function == HISTORY_WHOLE ? whole_process_rsd : f->process_rsd);
}

/* Returns how many profiles of [at, to) lie beyond all of [from, at), in the direction of the change. */
static size_t count_agreeing(const struct tested_row *row, size_t from, size_t at, size_t to, bool is_more)
{
	double edge = row->values[from];
	size_t agree = 0;

	for (size_t i = from; i < at; i++)
		edge = is_more ? fmax(edge, row->values[i]) : fmin(edge, row->values[i]);
	for (size_t i = at; i < to; i++)
		agree += is_more ? row->values[i] > edge : row->values[i] < edge;
	return agree;
}

/* Compares the mean of [from, to), and of [from2, to2) as `after`, as if they followed each other. */
static bool differ(const struct finding *f, const struct tested_row *row, const size_t first[2], const size_t second[2])
{
	double means[2], variance = 0, delta;

	for (int side = 0; side < 2; side++) {
		const size_t *stretch = side == 0 ? first : second;
		double weights = 0, values = 0;

		for (size_t i = stretch[0]; i < stretch[1]; i++) {
			weights += noise_weight(&f->rows, row, i);
			values += noise_weight(&f->rows, row, i) * row->values[i];
		}
		means[side] = values / weights;
		variance += row->scale * row->mean * row->mean * row->dependence / weights;
	}
	delta = means[1] - means[0];
	return fabs(delta) >= row->least_effect && tail_two_sided(delta / sqrt(variance), row->freedom) < still_there;
}

static bool has_gone(const struct finding *f, const struct tested_row *row, const size_t *edges, size_t change,
	size_t count, size_t *where)
{
	const size_t before[2] = { edges[change], edges[change + 1] };

	for (size_t later = change + 1; later < count; later++) {
		const size_t stretch[2] = { edges[later + 1], edges[later + 2] };

		if (!differ(f, row, before, stretch)) {
			*where = later;
			return true;
		}
	}
	return false;
}

static void history_changes_add_change(struct finding *f, const struct history_change *change)
{
	struct history_series *series = f->series;
	struct history_change *grown = memory_resize(series->changes, series->change_count + 1, sizeof(*grown));

	series->changes = grown;
	grown[series->change_count++] = *change;
}

/* `edges`: 0, the points of the row, the end. `is_return`: [change] it only ends an earlier one. */
static struct history_change change_of(const struct finding *f, const struct history_candidate *candidate,
	const size_t *edges, size_t change, size_t count, bool *is_return)
{
	const struct tested_row *row = &f->rows.items[candidate->row];
	size_t from = edges[change], at = edges[change + 1], to = edges[change + 2], where = 0;
	struct contrast contrast = contrast_between(f, row, from, at, to);
	struct contrast last = contrast_between(f, row, from, edges[count], edges[count + 1]);
	double half = tail_quantile(tail_of_interval, contrast.freedom) * contrast.error;
	struct history_change made = {
		.function = row->function,
		.is_self = row->is_self,
		.point = point_at(f->series, at),
		.went = SIZE_MAX,
		.before = contrast.before,
		.after = contrast.after,
		.last = last.after,
		.delta = contrast.after - contrast.before,
		.ci_low = contrast.after - contrast.before - half,
		.ci_high = contrast.after - contrast.before + half,
		.q = candidate->q,
		.of = to - at,
		.code = code_at(f->history, &f->rows, row, from, at, to),
	};

	made.agree = count_agreeing(row, from, at, to, made.delta > 0);
	if (has_gone(f, row, edges, change, count, &where)) {
		made.went = point_at(f->series, edges[where + 1]);
		is_return[where] = true;
	}
	return made;
}

static void add_drift(struct finding *f, const struct history_drift *drift)
{
	struct history_series *series = f->series;
	struct history_drift *grown = memory_resize(series->drifts, series->drift_count + 1, sizeof(*grown));

	/* Self time and the total of a function drift together. */
	if (grown && series->drift_count > 0 && grown[series->drift_count - 1].function == drift->function) {
		series->drifts = grown;
		return;
	}
	series->drifts = grown;
	grown[series->drift_count++] = *drift;
}

/* Makes the candidates of one row, in order of time, each point once. */
static void row_changes(struct finding *f, const struct history_candidate *candidates, size_t count)
{
	struct tested_row *row = &f->rows.items[candidates[0].row];
	CLEANUP(cleanup_free) size_t *edges = memory_alloc((count + 2) * sizeof(*edges));
	CLEANUP(cleanup_free) bool *is_return = memory_zeroed(count, sizeof(*is_return));
	struct history_drift drift = { 0 };
	size_t found = 0;

	row->scale = candidates[0].scale;
	edges[0] = 0;
	edges[count + 1] = f->series->count;
	drift.q = 1;
	for (size_t i = 0; i < count; i++) {
		edges[i + 1] = candidates[i].at;
		found += !candidates[i].is_deploy;
		drift.q = fmin(drift.q, candidates[i].q);
	}
	if (drift_explains(&f->rows, row, edges + 1, count, found, &drift)) {
		add_drift(f, &drift);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct history_change change;

		if (is_return[i])
			continue;
		change = change_of(f, &candidates[i], edges, i, count, is_return);
		if (fabs(change.delta) >= row->least_effect)
			history_changes_add_change(f, &change);
	}
}

static void all_changes(struct finding *f)
{
	struct history_candidate *items = f->candidates.items;
	size_t count = 0;

	if (f->candidates.count == 0)
		return;
	qsort(items, f->candidates.count, sizeof(*items), by_row);
	for (size_t i = 0; i < f->candidates.count; i++) {
		if (count == 0 || items[count - 1].row != items[i].row || items[count - 1].at != items[i].at)
			items[count++] = items[i];
		else
			items[count - 1].q = fmin(items[count - 1].q, items[i].q);
	}
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && items[to].row == items[from].row;)
			to++;
		row_changes(f, &items[from], to - from);
	}
}

/* ---- What is listed ---- */

static double size_of(const struct history_change *change)
{
	return change->function == HISTORY_WHOLE ? INFINITY : fabs(change->delta);
}

static int by_importance(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;

	if ((x->went == SIZE_MAX) != (y->went == SIZE_MAX))
		return x->went == SIZE_MAX ? -1 : 1;
	if (x->point != y->point)
		return ORDER(y->point, x->point);
	if (size_of(x) != size_of(y))
		return ORDER(size_of(y), size_of(x));
	return x->function != y->function ? ORDER(x->function, y->function) : ORDER(x->is_self, y->is_self);
}

/* A function's self time and its total that changed at one point are one: its own, where that is most of it. */
static void join_self_and_total(struct history_series *series)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];
		bool is_other = false;

		for (size_t j = 0; j < series->change_count && !is_other; j++) {
			const struct history_change *other = &series->changes[j];
			double self = fabs(change->is_self ? change->delta : other->delta);
			double total = fabs(change->is_self ? other->delta : change->delta);

			if (other->function == change->function && other->point == change->point &&
				other->is_self != change->is_self && change->function != HISTORY_WHOLE)
				is_other = change->is_self == (self < total / 2);
		}
		if (!is_other)
			series->changes[kept++] = *change;
	}
	series->change_count = kept;
}

bool changes_find(struct history_build *build, struct history_series *series, struct error *err)
{
	CLEANUP(finding_deinit)
	struct finding f = { .build = build, .history = build->history, .series = series };

	if (series->count >= 2) {
		history_changes_prepare(&f);
		search_all(&f);
		keep_proven(&f);
		if (!points_place(&f, err))
			return false;
		all_changes(&f);
	}
	join_self_and_total(series);
	if (series->change_count > 0)
		qsort(series->changes, series->change_count, sizeof(*series->changes), by_importance);
	return true;
}
