/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rows.h"

#include "diff/history/rhythm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Classes ---- */

static bool rows_is_compiled(const struct summary_function *function)
{
	enum profile_variation variation = profile_languages[function->language].variation;

	return variation == PROFILE_VARIATION_V8 || variation == PROFILE_VARIATION_HOTSPOT;
}

static bool rows_are_of(const struct history *history, const struct history_series *series, const char *const *metrics)
{
	const char *metric = summary_string(history->set, series_summary(history, series, 0)->metric);

	for (; *metrics; metrics++)
		if (strcmp(metric, *metrics) == 0)
			return true;
	return false;
}

/* Waiting is all that the metric has, or part of it. */
static bool rows_all_wait(const struct history *history, const struct history_series *series)
{
	return rows_are_of(history, series, (const char *const[]){ "off-cpu", "idle", NULL });
}

static bool rows_some_wait(const struct history *history, const struct history_series *series)
{
	return rows_are_of(history, series, (const char *const[]){ "off-cpu", "idle", "wall", NULL });
}

static enum evidence_class rows_class_of(
	const struct history *history, const struct history_series *series, const struct history_row *row)
{
	const struct summary_set *set = history->set;
	const struct summary_function *function = &set->functions[row->function];

	if (rows_all_wait(history, series) ||
		(rows_some_wait(history, series) && summary_string(set, function->module)[0] == '\0' &&
			profile_wait_class_of_name(summary_string(set, function->name)) != PROFILE_WAIT_NONE))
		return EVIDENCE_WAITING;
	return rows_is_compiled(function) ? EVIDENCE_COMPILED : EVIDENCE_OTHER;
}

/* Returns whether code that is compiled at run time has a good part of the time. */
static bool rows_are_compiled(const struct history *history, const struct history_series *series)
{
	static const double least_part = .125;
	double compiled = 0, all = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		for (size_t r = 0; r < summary->row_count; r++)
			if (rows_is_compiled(&history->set->functions[summary->rows[r].function]))
				compiled += summary->rows[r].self;
		all += summary->total;
	}
	return compiled > least_part * all;
}

static enum evidence_class rows_class_of_total(const struct history *history, const struct history_series *series)
{
	return rows_some_wait(history, series)       ? EVIDENCE_WAITING
	       : series->scale == DIFF_SCALE_PER_RUN ? EVIDENCE_TOTAL_COMMAND
	       : rows_are_compiled(history, series)  ? EVIDENCE_TOTAL_COMPILED
						     : EVIDENCE_TOTAL;
}

/* ---- The series ---- */

/* Returns the logarithm of the requests for each second in each profile, on the heap; NULL: not known in all. */
static double *rows_loads(const struct history *history, const struct history_series *series)
{
	double *loads = memory_alloc(series->count * sizeof(*loads));

	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		if (series->scale != DIFF_SCALE_PER_REQUEST || summary->duration_ns <= 0) {
			free(loads);
			return NULL;
		}
		loads[i] = log(summary->requests / (double)summary->duration_ns);
	}
	return loads;
}

/* A deploy that nothing else tells of starts the program anew, unless every profile does. */
static void rows_mark_known(const struct history_series *series, const uint32_t *starts, bool *is_known)
{
	size_t count = series->count, started = starts[count - 1];

	for (size_t i = 0; i < series->point_count; i++)
		is_known[series->points[i].at] = series->points[i].is_deploy;
	for (size_t i = 1; started > 0 && started * 2 < count && i < count; i++)
		is_known[i] |= starts[i] != starts[i - 1];
}

static void rows_fill_model(const struct history *history, struct history_rows *rows)
{
	const struct history_series *series = rows->series;
	size_t count = series->count;
	uint32_t *starts = memory_alloc(count * sizeof(*starts));
	bool *is_known = memory_zeroed(count, sizeof(*is_known)), *is_barred = memory_zeroed(count, sizeof(*is_barred));
	double *samples = memory_alloc(count * sizeof(*samples));

	starts_number(history, series, starts);
	rows_mark_known(series, starts, is_known);
	for (size_t i = 0; i < count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		samples[i] = fmax(summary->total / series->sample_value, 1e-9);
		is_barred[i] = i > 0 && summary->start_unix_ns != 0 &&
			       summary->start_unix_ns == series_summary(history, series, i - 1)->start_unix_ns;
	}
	rows->model = (struct evidence_series){ .count = count,
		/* A load that nobody counted is none of the machine's. */
		.factors = series->scale == DIFF_SCALE_ROBUST ? NULL : series->common,
		.loads = rows_loads(history, series),
		.starts = starts,
		.is_known = is_known,
		.is_barred = is_barred,
		.samples = samples,
		.totals = rows_class_of_total(history, series) };
}

/* ---- Functions ---- */

/* A function has rows where it has enough samples and a large enough part. */
struct rows_sums {
	double samples, part; /* of all profiles; its largest part of one */
	double beside;        /* time that is not its own */
	size_t index;         /* of its rows; SIZE_MAX: none */
};

static size_t rows_choose(const struct history *history, const struct history_rows *rows, struct rows_sums *sums)
{
	size_t functions = history->set->function_count, chosen = 0;

	for (size_t i = 0; i < rows->series->count; i++) {
		const struct summary *summary = series_summary(history, rows->series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];
			struct rows_sums *s = &sums[row->function];

			s->samples += row->total / rows->series->sample_value;
			s->part = fmax(s->part, row->total / fmax(summary->total, 1));
			s->beside += fabs(row->total - row->self);
		}
	}
	for (size_t f = 0; f < functions; f++)
		sums[f].index =
			!history->set->functions[f].interrupt && evidence_is_hypothesis(sums[f].samples, sums[f].part)
				? chosen++
				: SIZE_MAX;
	return chosen;
}

/* Fills the samples of each chosen function: the self times of all profiles, then the totals. */
static void rows_fill_samples(
	const struct history *history, const struct history_rows *rows, const struct rows_sums *sums, double *samples)
{
	size_t n = rows->series->count;

	for (size_t i = 0; i < n; i++) {
		const struct summary *summary = series_summary(history, rows->series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			size_t index = sums[summary->rows[r].function].index;

			if (index == SIZE_MAX)
				continue;
			samples[2 * index * n + i] = summary->rows[r].self / rows->series->sample_value;
			samples[(2 * index + 1) * n + i] = summary->rows[r].total / rows->series->sample_value;
		}
	}
}

/* Marks the profiles with which the code of each chosen function is another one than in the one before that has it. */
static void rows_fill_changed(
	const struct history *history, const struct history_rows *rows, const struct rows_sums *sums, bool *changed)
{
	size_t n = rows->series->count;
	CLEANUP(cleanup_free)
	uint64_t *before = memory_zeroed(history->set->function_count + 1, sizeof(*before));

	for (size_t i = 0; i < n; i++) {
		const struct summary *summary = series_summary(history, rows->series, i);

		for (size_t r = 0; r < summary->row_count; r++) {
			const struct summary_row *row = &summary->rows[r];

			if (sums[row->function].index == SIZE_MAX || row->fingerprint == 0)
				continue;
			changed[sums[row->function].index * n + i] =
				before[row->function] != 0 && before[row->function] != row->fingerprint;
			before[row->function] = row->fingerprint;
		}
	}
}

static void rows_add(const struct history *history, struct history_rows *rows, uint32_t function, bool is_self,
	const double *samples, const bool *changed)
{
	struct history_row *row = &rows->items[rows->count];
	bool is_total = function == HISTORY_WHOLE;

	*row = (struct history_row){ function, is_self };
	rows->weighed[rows->count++] =
		(struct evidence_series_row){ .class = is_total ? rows->model.totals
								: rows_class_of(history, rows->series, row),
			.samples = samples,
			.work = is_total ? rows->series->work : rows->common_work,
			.group = function,
			.is_changed = changed,
			.is_self = is_self,
			.is_total = is_total };
}

void rows_fill(const struct history *history, const struct history_series *series, struct history_rows *rows)
{
	size_t functions = history->set->function_count, n = series->count, chosen;
	CLEANUP(cleanup_free) struct rows_sums *sums = memory_zeroed(functions + 1, sizeof(*sums));

	*rows = (struct history_rows){ .series = series, .common_work = memory_alloc(n * sizeof(double)) };
	rows_fill_model(history, rows);
	for (size_t i = 0; i < n; i++)
		rows->common_work[i] = series->work[i] * exp(series->common[i]);
	chosen = rows_choose(history, rows, sums);
	rows->items = memory_alloc((2 * chosen + 1) * sizeof(*rows->items));
	rows->weighed = memory_alloc((2 * chosen + 1) * sizeof(*rows->weighed));
	rows->samples = memory_zeroed(2 * chosen * n + 1, sizeof(*rows->samples));
	rows->changed = memory_zeroed(chosen * n + 1, sizeof(*rows->changed));
	rows_fill_samples(history, rows, sums, rows->samples);
	rows_fill_changed(history, rows, sums, rows->changed);
	if (series->scale != DIFF_SCALE_ROBUST)
		rows_add(history, rows, HISTORY_WHOLE, false, rows->model.samples, NULL);
	for (uint32_t f = 0; f < functions; f++) {
		const double *samples;
		const bool *changed;

		if (sums[f].index == SIZE_MAX)
			continue;
		samples = rows->samples + 2 * sums[f].index * n;
		changed = rows->changed + sums[f].index * n;
		rows_add(history, rows, f, true, samples, changed);
		/* A function that calls nothing is tested once. */
		if (sums[f].beside > 0)
			rows_add(history, rows, f, false, samples + n, changed);
	}
	rhythm_remove(history, rows);
}

void rows_deinit(struct history_rows *rows)
{
	free((void *)rows->model.loads);
	free((void *)rows->model.starts);
	free((void *)rows->model.is_known);
	free((void *)rows->model.is_barred);
	free((void *)rows->model.samples);
	free(rows->items);
	free(rows->weighed);
	free(rows->samples);
	free(rows->work);
	free(rows->common_work);
	free(rows->changed);
}
