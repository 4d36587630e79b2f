/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/*
 * Returns what two stretches of a series have in common. `common`: the difference of their profiles' mean factors,
 * which are in the rows' work already; as far as rows do not follow them, it leaves a variance. `load`: that of their
 * mean loads.
 */
struct evidence_factor series_factor_of(
	const struct evidence_series *series, const struct evidence_series_row *row, double common, double load);

/* ---- The search (series_gains.c, series_search.c) ---- */

/* Profiles, or starts of the program, that follow each other: element i are the profiles [begins[i], begins[i + 1]). */
struct series_sequence {
	size_t *begins; /* owned: [element + 1] */
	size_t count;
	struct series_window *windows; /* owned; the first is all of it */
	size_t window_count, window_capacity;
};

/*
 * A part of a sequence in which one change is looked for: the elements [from, to), of lengths that halve and overlap by
 * half (seeded intervals: Kovács, Bühlmann, Li and Munk 2023, "Seeded binary segmentation"), so that the end of a spike
 * does not hide its start. Positions that are known are looked at between their neighbours too.
 */
struct series_window {
	size_t from, to;
	size_t only; /* the one position; 0: all that have enough on both sides */
};

/* A split that some window shows, and by how much a change explains it better than none: a logarithm. */
struct series_guess {
	struct evidence_split split;
	double gain;
};

/* A row's gains are found window by window. */
struct series_gains {
	double *at;                   /* owned: [profile] the mean over its windows, a logarithm; -INFINITY: nothing */
	struct series_guess *guesses; /* owned */
	size_t guess_count, guess_capacity;
};

struct series_sequences {
	struct series_sequence *items; /* owned */
	size_t count;
	size_t *windows_at; /* owned: [profile] in how many windows a change is looked for there */
};

void series_sequences_init(const struct evidence_series *series, struct series_sequences *sequences);
void series_sequences_deinit(struct series_sequences *sequences);

/*
 * Returns the probability of one of a position's windows, where all together have 1: all profiles have half of it. 0:
 * no change is looked for there.
 */
double series_window_part(const struct series_sequences *sequences, size_t at, bool is_whole);

/* Fills the gains of a row by the normal form of evidence_weigh_row() and evidence_gain(), from sums over profiles. */
void series_gains_fill(const struct evidence_series *series, const struct series_sequences *sequences,
	const struct evidence_series_row *row, struct series_gains *gains);
void series_gains_deinit(struct series_gains *gains);
