/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/search.h"

/*
 * Makes proven changes from the candidates of all rows: Benjamini and Hochberg over functions and points, points that
 * several functions share, and what became of each change.
 */

/* Fills points, changes and drifts of a series, which has its factors and deploys. */
COMMON_MUST_CHECK
bool changes_find(struct history_build *build, struct history_series *series, struct error *err);

/*
 * Returns whether a row that has changed at `ats` is better described as a drift: by a straight line, or by a walk that
 * never comes to rest. By the criterion of Schwarz. `found`: how many of the points were looked for.
 */
bool drift_explains(const struct tested_rows *rows, const struct tested_row *row, const size_t *ats, size_t count,
	size_t found, struct history_drift *drift);

/* Returns what is known of a function's code at the profile `at`, within [from, to). */
enum history_code code_at(const struct history *history, const struct tested_rows *rows, const struct tested_row *row,
	size_t from, size_t at, size_t to);

/* Adjusts the candidates' p for all rows: fills q. `deploys`: of the series. */
void discovery_adjust(const struct history *history, const struct tested_rows *rows,
	struct history_candidates *candidates, size_t deploys);
