/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/history.h"

/*
 * The state that the steps of history_create() share. Each step fills its part of a series, in this order: series.c,
 * factors.c, deploys.c, and behind them the search and the proof of changes.
 */
struct history_build {
	struct history *history;
	struct history_options options; /* without zeros, except period_ns */
};

/* Returns the summary of a profile of the series. */
static inline const struct summary *series_summary(
	const struct history *history, const struct history_series *series, size_t at)
{
	return &history->set->items[series->profiles[at]];
}

/* Appends a sentence to notices. */
COMMON_MUST_CHECK
__attribute__((format(printf, 5, 6))) bool notices_add(
	struct history *history, uint32_t **notices, size_t *count, struct error *err, const char *format, ...);

/* Groups the set's summaries into series and orders them by time. Fills title, facts, profiles, count. */
COMMON_MUST_CHECK
bool series_find(struct history_build *build, struct error *err);

/* Chooses the scale and fills sample_value, work, common, factor and typical_total. */
COMMON_MUST_CHECK
bool factors_fill(struct history_build *build, struct history_series *series, struct error *err);

/* Fills points with the deploys. */
COMMON_MUST_CHECK
bool deploys_find(struct history_build *build, struct history_series *series, struct error *err);

/* Finds the first fact that changed at the profile `at`, in words: a string of the history, "" if none is known. */
COMMON_MUST_CHECK
bool facts_changed(
	struct history *history, const struct history_series *series, size_t at, uint32_t *words, struct error *err);

/* Returns whether the program itself is another one at `at` than before, as far as is known. */
bool facts_is_deploy(const struct history *history, const struct history_series *series, size_t at);
