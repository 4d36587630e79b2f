/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/build.h"

#include "diff/constants.h"
#include "diff/evidence/evidence.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>

/*
 * Chooses what the values of a series are compared by: requests, runs, or each profile's total times what all functions
 * have in common beside it (evidence_profile_factors()), which is the load, if most of the program's time is in
 * functions that do the same work for each unit of load in all profiles.
 */

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

/* Values of which nobody knows the samples, or that are exact, have no counting noise. */
static void fill_sample_value(const struct history *history, struct history_series *series)
{
	double values = 0, samples = 0;
	bool is_sampled = true;

	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		values += summary->total + summary->interrupts;
		samples += (double)summary->samples;
		is_sampled &= summary->samples > 0 && !summary->is_exact;
	}
	series->sample_value = is_sampled && values > 0
				       ? values / samples
				       : fmax(values, 1) / ((double)series->count * diff_uncounted_samples);
}

static void fill_work(const struct history *history, struct history_series *series)
{
	series->scale = counts_requests(history, series)      ? DIFF_SCALE_PER_REQUEST
			: has_whole_commands(history, series) ? DIFF_SCALE_PER_RUN
							      : DIFF_SCALE_ROBUST;
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		series->work[i] = series->scale == DIFF_SCALE_PER_REQUEST ? summary->requests
				  : series->scale == DIFF_SCALE_PER_RUN
					  ? (double)summary->runs
					  : fmax(summary->total / series->sample_value, 1e-9);
	}
}

/* The self times of functions as rows of one side. */
struct self_rows {
	struct evidence_row *items; /* owned */
	double *samples;            /* owned */
	size_t count;
};

static void self_rows_deinit(struct self_rows *rows)
{
	free(rows->items);
	free(rows->samples);
}

static void self_rows_fill(const struct history *history, const struct history_series *series, struct self_rows *rows)
{
	size_t functions = history->set->function_count, n = series->count;
	CLEANUP(cleanup_free) double *sums = memory_zeroed(functions + 1, sizeof(*sums));
	CLEANUP(cleanup_free) size_t *index = memory_alloc((functions + 1) * sizeof(*index));

	for (size_t i = 0; i < n; i++) {
		const struct summary *summary = series_summary(history, series, i);

		for (size_t r = 0; r < summary->row_count; r++)
			sums[summary->rows[r].function] += summary->rows[r].self / series->sample_value;
	}
	/* One with less than a sample in each profile tells nothing. */
	for (size_t f = 0; f < functions; f++)
		index[f] = !history->set->functions[f].interrupt && sums[f] >= (double)n ? rows->count++ : SIZE_MAX;
	rows->items = memory_zeroed(rows->count + 1, sizeof(*rows->items));
	rows->samples = memory_zeroed(rows->count * n + 1, sizeof(*rows->samples));
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].sides[0] = (struct evidence_counts){ rows->samples + i * n, series->work, n };
	for (size_t i = 0; i < n; i++) {
		const struct summary *summary = series_summary(history, series, i);

		for (size_t r = 0; r < summary->row_count; r++)
			if (index[summary->rows[r].function] != SIZE_MAX)
				rows->samples[index[summary->rows[r].function] * n + i] =
					summary->rows[r].self / series->sample_value;
	}
}

static void fill_common(const struct history *history, struct history_series *series, bool *is_known)
{
	CLEANUP(self_rows_deinit) struct self_rows rows = { 0 };

	self_rows_fill(history, series, &rows);
	evidence_profile_factors(rows.items, rows.count, (double *[]){ series->common, NULL });
	*is_known = false;
	for (size_t i = 0; i < series->count; i++)
		*is_known |= series->common[i] != 0;
}

static void fill_factor(const struct history *history, struct history_series *series)
{
	CLEANUP(cleanup_free) struct weighted_value *totals = memory_alloc(series->count * sizeof(*totals));

	for (size_t i = 0; i < series->count; i++) {
		double total = series_summary(history, series, i)->total,
		       work = series->scale == DIFF_SCALE_ROBUST ? total * exp(series->common[i]) : series->work[i];

		series->factor[i] = work > 0 ? 1 / work : 0;
		totals[i] = (struct weighted_value){ total * series->factor[i], 1 };
	}
	series->typical_total = weighted_median(totals, series->count);
	if (!(series->typical_total > 0))
		series->typical_total = 1;
}

bool factors_fill(struct history_build *build, struct history_series *series, struct error *err)
{
	struct history *history = build->history;
	bool is_known;

	series->work = memory_zeroed(series->count, sizeof(*series->work));
	series->common = memory_zeroed(series->count, sizeof(*series->common));
	series->factor = memory_zeroed(series->count, sizeof(*series->factor));
	fill_sample_value(history, series);
	fill_work(history, series);
	fill_common(history, series, &is_known);
	fill_factor(history, series);
	return is_known || series->count < 2 || series->scale != DIFF_SCALE_ROBUST ||
	       notices_add(history, &series->notices, &series->notice_count, err,
		       "Too few functions are in most profiles: values are shares of each profile's total.");
}
