/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/rows.h"

/*
 * The search for places where the values of a row change: binary segmentation. In each segment the most significant
 * split is taken, and what lies on both sides of it is searched in turn.
 *
 * A split at a deploy, or where another process of the program begins, is known beforehand: its p is that of Student's
 * t. Any other one pays for having been looked for: its p is multiplied by the number of splits that were compared
 * (Bonferroni, a bound). Splits are also looked for in parts of a segment, of lengths that halve and overlap by half
 * (seeded intervals: Kovács, Bühlmann, Li and Munk 2023, "Seeded binary segmentation"), so that the end of a spike does
 * not hide its start.
 *
 * The noise of a search comes from differences of neighbours without the largest ones. What was found is judged by the
 * noise between the points where that is greater: single profiles that lie far off are noise and no changes.
 *
 * Profiles of one process share what its start decided. Where the processes on both sides of a split are not the same,
 * the difference has a variance for that, unless each profile has a process of its own.
 */

struct history_candidate {
	uint32_t row;
	size_t at;
	double p;     /* corrected for the search, not for other rows */
	double scale; /* of the row, as the values between its candidates show it */
	bool is_deploy;
	double q; /* filled by whoever has those of all rows */
};

struct history_candidates {
	struct history_candidate *items; /* owned */
	size_t count, capacity;
};

/* A difference between two stretches [from, at) and [at, to) of a row. */
struct contrast {
	double before, after;
	double error;   /* standard error of after - before */
	double freedom; /* of it */
};

/* Makes the contrast; `process_rsd`: relative standard deviation between two processes. */
struct contrast contrast_of(const struct tested_rows *rows, const struct tested_row *row, size_t from, size_t at,
	size_t to, const uint32_t *processes, double process_rsd);

struct history_search {
	const struct history_build *build;
	const struct tested_rows *rows;
	const bool *is_deploy;     /* [profile] a deploy or a start of the process lies before it */
	const bool *is_barred;     /* [profile] no point may lie before it */
	const uint32_t *processes; /* [profile] numbers of processes; NULL: each has its own */
	double process_rsd, whole_process_rsd;
	double rate; /* candidates have at most this p */
};

/* Appends the candidates of a row. */
void search_row(const struct history_search *search, uint32_t row, struct history_candidates *candidates);

/* ---- Processes ---- */

/* Numbers the processes that profiles are of, on the heap; NULL: each has its own, or nothing tells. */
void processes_number(const struct history *history, const struct history_series *series, uint32_t **processes);

/* Estimates how much functions differ from process to process: a relative standard deviation. */
void processes_vary(
	const struct history *history, const struct tested_rows *rows, const uint32_t *processes, double *rsd);
