/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/changes.h"

#include "diff/history/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fact of a point of which nothing else is known. */
static const char started[] = "another process";

struct finding {
	struct history_build *build;
	struct history *history;
	struct history_series *series;
	struct history_rows rows;
	struct evidence_change *proven; /* owned; of all rows, in order of rows and time */
	size_t proven_count;
};

static void finding_deinit(struct finding *f)
{
	rows_deinit(&f->rows);
	free(f->proven);
}

/* ---- Code ---- */

static uint64_t fingerprint_near(const struct finding *f, uint32_t function, size_t from, size_t to)
{
	bool is_backwards = from > to;

	for (size_t i = from; i != to; i += is_backwards ? (size_t)-1 : 1) {
		const struct summary_row *row =
			summary_row_of(series_summary(f->history, f->series, is_backwards ? i - 1 : i), function);

		if (row && row->fingerprint)
			return row->fingerprint;
	}
	return 0;
}

static bool is_absent(const struct evidence_series_row *row, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (row->samples[i] > 0)
			return false;
	return true;
}

/* Returns what is known of the code of a row's function. */
static enum history_code code_at(const struct finding *f, const struct evidence_change *change)
{
	const struct evidence_series_row *row = &f->rows.weighed[change->row];
	uint32_t function = f->rows.items[change->row].function;
	uint64_t before, after;

	if (function == HISTORY_WHOLE)
		return HISTORY_CODE_UNKNOWN;
	if (is_absent(row, change->split.from, change->split.at))
		return HISTORY_CODE_NEW;
	if (is_absent(row, change->split.at, change->split.to))
		return HISTORY_CODE_GONE;
	before = fingerprint_near(f, function, change->split.at, change->split.from);
	after = fingerprint_near(f, function, change->split.at, change->split.to);
	if (!before || !after)
		return HISTORY_CODE_UNKNOWN;
	return before == after ? HISTORY_CODE_SAME : HISTORY_CODE_CHANGED;
}

/* ---- Values ---- */

/* The changes of one row. */
struct row_changes {
	const struct finding *f;
	const struct evidence_change *items;
	size_t count;
	const struct evidence_series_row *row;
	const double *values; /* [profile] as history_values() has them */
	double least_effect;  /* that matters, in their unit */
};

/* Returns the mean value of a stretch, in which profiles count by their work. */
static double mean_of(const struct row_changes *r, size_t from, size_t to)
{
	const double *factor = r->f->series->factor;
	double values = 0, work = 0;

	for (size_t i = from; i < to; i++) {
		/* A profile without any time has no factor. */
		values += factor[i] > 0 ? r->values[i] / factor[i] : 0;
		work += factor[i] > 0 ? 1 / factor[i] : 0;
	}
	return work > 0 ? values / work : 0;
}

/* Returns how many profiles of [at, to) lie beyond all of [from, at), in the direction of the change. */
static size_t count_agreeing(const double *values, const struct evidence_split *split, bool is_more)
{
	double edge = values[split->from];
	size_t agree = 0;

	for (size_t i = split->from; i < split->at; i++)
		edge = is_more ? fmax(edge, values[i]) : fmin(edge, values[i]);
	for (size_t i = split->at; i < split->to; i++)
		agree += is_more ? values[i] > edge : values[i] < edge;
	return agree;
}

/* Returns the end of the stretch behind a change of the row. */
static size_t stretch_end(const struct row_changes *r, size_t change)
{
	return change + 1 < r->count ? r->items[change + 1].split.at : r->f->series->count;
}

/* Finds the later change from which on no change explains what is before this one better. */
static bool has_gone(const struct row_changes *r, size_t change, size_t *where)
{
	const size_t before[2] = { change > 0 ? r->items[change - 1].split.at : 0, r->items[change].split.at };

	for (*where = change + 1; *where < r->count; ++*where) {
		const size_t later[2] = { r->items[*where].split.at, stretch_end(r, *where) };
		double left = mean_of(r, later[0], later[1]) - mean_of(r, before[0], before[1]);

		if (fabs(left) < r->least_effect ||
			evidence_gain_between(&r->f->rows.model, r->row, before, later) <= 0)
			return true;
	}
	return false;
}

/* Returns the difference that a logarithm of the ratio makes of the larger of two values. */
static double difference_of(const struct history_change *change, double log_ratio)
{
	return change->after > change->before ? change->after * -expm1(-log_ratio) : change->before * expm1(log_ratio);
}

/* Makes a change; its points are the profiles before which they lie. `is_return`: [change] it only ends an earlier one.
 */
static struct history_change change_of(const struct row_changes *r, size_t index, bool *is_return)
{
	const struct evidence_change *found = &r->items[index];
	const struct evidence_split *split = &found->split;
	const struct history_row *row = &r->f->rows.items[found->row];
	size_t count = r->f->series->count, where;
	struct history_change made = {
		.function = row->function,
		.is_self = row->is_self,
		.point = split->at,
		.went = SIZE_MAX,
		.before = mean_of(r, split->from, split->at),
		.after = mean_of(r, split->at, split->to),
		.last = mean_of(r, r->items[r->count - 1].split.at, count),
		.q = found->q,
		.of = split->to - split->at,
		.code = code_at(r->f, found),
	};
	/* The values have what the profiles' factors add to the effect. */
	double common = made.before > 0 && made.after > 0 ? log(made.after / made.before) - found->effect : 0;

	made.delta = made.after - made.before;
	made.ci_low = fmin(difference_of(&made, found->low + common), made.delta);
	made.ci_high = fmax(difference_of(&made, found->high + common), made.delta);
	made.agree = count_agreeing(r->values, split, made.delta > 0);
	if (has_gone(r, index, &where)) {
		made.went = r->items[where].split.at;
		is_return[where] = true;
	}
	return made;
}

static void history_changes_add_change(struct finding *f, const struct history_change *change)
{
	struct history_series *series = f->series;

	series->changes = memory_resize(series->changes, series->change_count + 1, sizeof(*series->changes));
	series->changes[series->change_count++] = *change;
}

/* Tells of a row that drifts; self time and the total of a function drift together. */
static bool add_drift(struct finding *f, const struct row_changes *r)
{
	struct history_series *series = f->series;
	const struct history_row *row = &f->rows.items[r->items[0].row];
	CLEANUP(cleanup_free) size_t *ats = memory_alloc(r->count * sizeof(*ats));
	struct history_drift drift = { .function = row->function, .q = 1 };
	double first, last, mean = mean_of(r, 0, series->count), samples = 0, work = 0;

	for (size_t i = 0; i < r->count; i++) {
		ats[i] = r->items[i].split.at;
		drift.q = fmin(drift.q, r->items[i].q);
	}
	if (!evidence_is_trend(&f->rows.model, r->row, ats, r->count, &first, &last))
		return false;
	for (size_t i = 0; i < series->count; i++) {
		samples += r->row->samples[i];
		work += r->row->work[i];
	}
	drift.first = mean * exp(first) * work / samples;
	drift.last = mean * exp(last) * work / samples;
	if (series->drift_count > 0 && series->drifts[series->drift_count - 1].function == drift.function)
		return true;
	series->drifts = memory_resize(series->drifts, series->drift_count + 1, sizeof(*series->drifts));
	series->drifts[series->drift_count++] = drift;
	return true;
}

/* Makes the changes of one row, which are in order of time. */
static void row_changes_make(struct finding *f, const struct evidence_change *items, size_t count)
{
	const struct history_row *row = &f->rows.items[items[0].row];
	CLEANUP(cleanup_free) bool *is_return = memory_zeroed(count, sizeof(*is_return));
	CLEANUP(cleanup_free) double *values = memory_alloc(f->series->count * sizeof(*values));
	struct row_changes r = { f, items, count, &f->rows.weighed[items[0].row], values,
		f->build->options.min_effect_points *
			(row->function == HISTORY_WHOLE ? f->series->typical_total / 100 : 1) };

	history_values(f->history, f->series, row->function, row->is_self, values);
	if (add_drift(f, &r))
		return;
	for (size_t i = 0; i < count; i++) {
		struct history_change change;

		if (is_return[i])
			continue;
		change = change_of(&r, i, is_return);
		if (fabs(change.delta) >= r.least_effect)
			history_changes_add_change(f, &change);
	}
}

static void all_changes(struct finding *f)
{
	for (size_t from = 0, to; from < f->proven_count; from = to) {
		for (to = from + 1; to < f->proven_count && f->proven[to].row == f->proven[from].row;)
			to++;
		row_changes_make(f, &f->proven[from], to - from);
	}
}

/* ---- Points ---- */

static int history_changes_by_at(const void *a, const void *b)
{
	const struct history_point *x = a, *y = b;

	return ORDER(x->at, y->at);
}

/* Finds the point before a profile; SIZE_MAX: there is none. */
static size_t point_at(const struct history_series *series, size_t at)
{
	for (size_t point = 0; point < series->point_count; point++)
		if (series->points[point].at == at)
			return point;
	return SIZE_MAX;
}

static bool points_add(struct finding *f, size_t at, struct error *err)
{
	struct history_series *series = f->series;
	struct history_point *made;

	if (at == SIZE_MAX || point_at(series, at) != SIZE_MAX)
		return true;
	series->points = memory_resize(series->points, series->point_count + 1, sizeof(*series->points));
	made = &series->points[series->point_count++];
	*made = (struct history_point){ .at = at };
	return facts_changed(f->history, series, at, &made->fact, err) &&
	       (made->fact || !f->rows.model.is_known[at] ||
		       string_table_add(f->history->strings, started, strlen(started), &made->fact, err));
}

/* Makes the points of all changes. */
static bool points_place(struct finding *f, struct error *err)
{
	struct history_series *series = f->series;

	for (size_t i = 0; i < series->change_count; i++)
		if (!points_add(f, series->changes[i].point, err) || !points_add(f, series->changes[i].went, err))
			return false;
	if (series->point_count > 0)
		qsort(series->points, series->point_count, sizeof(*series->points), history_changes_by_at);
	for (size_t i = 0; i < series->change_count; i++) {
		series->changes[i].point = point_at(series, series->changes[i].point);
		series->changes[i].went = point_at(series, series->changes[i].went);
	}
	return true;
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

	if (series->count < 2)
		return true;
	rows_fill(build->history, series, &f.rows);
	f.proven_count =
		evidence_series_search(&f.rows.model, f.rows.weighed, f.rows.count, build->options.q, &f.proven);
	all_changes(&f);
	if (!points_place(&f, err))
		return false;
	join_self_and_total(series);
	if (series->change_count > 0)
		qsort(series->changes, series->change_count, sizeof(*series->changes), by_importance);
	return true;
}
