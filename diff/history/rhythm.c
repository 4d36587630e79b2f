/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rhythm.h"

#include <math.h>
#include <stdlib.h>

/*
 * Values that follow a rhythm, as of day and night: what the same phase of each period has more or less than its period
 * is taken away, where profiles are compared with those of the same time (history_options.period_ns).
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
	size_t *counts;         /* [period] */
	size_t periods;
};

static void rhythm_deinit(struct rhythm *r)
{
	free(r->period);
	free(r->phase);
	free(r->sums);
	free(r->counts);
}

static void rhythm_init(
	struct rhythm *r, const struct history *history, const struct history_series *series, int64_t period)
{
	int64_t first = rhythm_time_of(history, series, 0);

	*r = (struct rhythm){ memory_alloc(series->count * sizeof(size_t)),
		memory_alloc(series->count * sizeof(size_t)), memory_alloc(series->count * sizeof(double)),
		memory_alloc(series->count * sizeof(size_t)), 0 };
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

static void remove_from(const struct rhythm *r, double *values, size_t count)
{
	double offsets[PHASES] = { 0 };
	size_t seen[PHASES] = { 0 };

	for (size_t p = 0; p < r->periods; p++) {
		r->sums[p] = 0;
		r->counts[p] = 0;
	}
	for (size_t i = 0; i < count; i++) {
		r->sums[r->period[i]] += values[i];
		r->counts[r->period[i]]++;
	}
	for (size_t i = 0; i < count; i++) {
		offsets[r->phase[i]] += values[i] - r->sums[r->period[i]] / (double)r->counts[r->period[i]];
		seen[r->phase[i]]++;
	}
	for (size_t i = 0; i < count; i++) {
		if (seen[r->phase[i]] >= MIN_PERIODS)
			values[i] -= offsets[r->phase[i]] / (double)seen[r->phase[i]];
	}
}

void rhythm_remove(const struct history_build *build, struct tested_rows *rows)
{
	const struct history_series *series = rows->series;
	int64_t period = build->options.period_ns;
	struct rhythm r;

	if (period <= 0 ||
		rhythm_time_of(build->history, series, series->count - 1) - rhythm_time_of(build->history, series, 0) <
			MIN_PERIODS * period)
		return;
	rhythm_init(&r, build->history, series, period);
	for (size_t i = 0; i < rows->count; i++)
		remove_from(&r, rows->items[i].values, series->count);
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
