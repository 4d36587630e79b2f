/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rhythm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rows that follow a rhythm, as of day and night: what a phase has more than its periods, on average, is work that it
 * does more, where profiles are compared with those of the same time (history_options.period_ns).
 */
enum { PHASES = 24, MIN_PERIODS = 3 };

static const int64_t hour_ns = (int64_t)3600 * 1000000000, day_ns = 24 * (int64_t)3600 * 1000000000;
static const double most_correlation = 0.5;

static int64_t rhythm_time_of(const struct history *history, const struct history_series *series, size_t profile)
{
	return series_summary(history, series, profile)->start_unix_ns;
}

static size_t period_of(int64_t time, int64_t first, int64_t period)
{
	return (size_t)((time - first) / period);
}

struct rhythm {
	size_t *period, *phase; /* [profile] */
	double *sums;           /* [period] */
	size_t periods;
};

static void rhythm_deinit(struct rhythm *r)
{
	free(r->period);
	free(r->phase);
	free(r->sums);
}

static void rhythm_init(
	struct rhythm *r, const struct history *history, const struct history_series *series, int64_t period)
{
	int64_t first = rhythm_time_of(history, series, 0);

	*r = (struct rhythm){ memory_alloc(series->count * sizeof(size_t)),
		memory_alloc(series->count * sizeof(size_t)), memory_alloc(series->count * sizeof(double)), 0 };
	for (size_t i = 0; i < series->count; i++) {
		int64_t time = rhythm_time_of(history, series, i);
		size_t own = period_of(time, first, period);
		bool is_new = i == 0 || own != period_of(rhythm_time_of(history, series, i - 1), first, period);

		/* Periods without a profile have no number. */
		r->periods += is_new;
		r->period[i] = r->periods - 1;
		r->phase[i] = (size_t)((double)((time - first) % period) / (double)period * PHASES) % PHASES;
	}
}

/* Fills a row's work with how much more of it there is in the phase of each profile. */
static void fill_work(const struct rhythm *r, const struct evidence_series_row *row, double *work, size_t count)
{
	double phases[PHASES][2] = { { 0 } };
	size_t seen[PHASES] = { 0 };
	CLEANUP(cleanup_free) double *all = memory_zeroed(r->periods + 1, sizeof(*all));

	memset(r->sums, 0, r->periods * sizeof(*r->sums));
	for (size_t i = 0; i < count; i++) {
		r->sums[r->period[i]] += row->samples[i];
		all[r->period[i]] += row->work[i];
	}
	for (size_t i = 0; i < count; i++) {
		phases[r->phase[i]][0] += row->samples[i];
		phases[r->phase[i]][1] += row->work[i] * r->sums[r->period[i]] / all[r->period[i]];
		seen[r->phase[i]]++;
	}
	for (size_t i = 0; i < count; i++) {
		const double *phase = phases[r->phase[i]];
		bool is_told = seen[r->phase[i]] >= MIN_PERIODS && phase[0] > 0 && phase[1] > 0;

		work[i] = row->work[i] * (is_told ? phase[0] / phase[1] : 1);
	}
}

void rhythm_remove(const struct history *history, struct history_rows *rows)
{
	const struct history_series *series = rows->series;
	int64_t period = history->period_ns;
	struct rhythm r;

	if (period <= 0 || rhythm_time_of(history, series, series->count - 1) - rhythm_time_of(history, series, 0) <
				   MIN_PERIODS * period)
		return;
	rhythm_init(&r, history, series, period);
	rows->work = memory_alloc(rows->count * series->count * sizeof(*rows->work) + 1);
	for (size_t i = 0; i < rows->count; i++) {
		double *work = rows->work + i * series->count;

		fill_work(&r, &rows->weighed[i], work, series->count);
		rows->weighed[i].work = work;
	}
	rhythm_deinit(&r);
}

/*
 * Returns how the load of profiles correlates with that of the profile a day later, within an hour; NAN: too few pairs.
 */
static double correlation_of_days(const struct history *history, const struct history_series *series)
{
	double mean = 0, products = 0, squares = 0;
	size_t pairs = 0, later = 0;

	for (size_t i = 0; i < series->count; i++)
		mean += log(series->factor[i]) / (double)series->count;
	for (size_t i = 0; i < series->count; i++) {
		double own = log(series->factor[i]) - mean;
		int64_t wanted = rhythm_time_of(history, series, i) + day_ns;

		squares += own * own / (double)series->count;
		while (later < series->count && rhythm_time_of(history, series, later) < wanted - hour_ns)
			later++;
		if (later < series->count && rhythm_time_of(history, series, later) <= wanted + hour_ns) {
			products += own * (log(series->factor[later]) - mean);
			pairs++;
		}
	}
	return pairs >= PHASES / 2 && squares > 0 ? products / (double)pairs / squares : NAN;
}

bool rhythm_warn(struct history_build *build, struct history_series *series, struct error *err)
{
	struct history *history = build->history;
	int64_t span = rhythm_time_of(history, series, series->count - 1) - rhythm_time_of(history, series, 0);

	if (build->options.period_ns > 0 || span < MIN_PERIODS * day_ns ||
		!(correlation_of_days(history, series) > most_correlation))
		return true;
	return notices_add(history, &series->notices, &series->notice_count, err,
		"The load follows the time of day: --period 24h compares profiles with those of the same time.");
}
