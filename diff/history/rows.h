/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"
#include "diff/history/build.h"

/*
 * The rows of a series as the model of evidence has them (diff/evidence/evidence.h): of each function that has samples
 * its self time and its time with all that it calls, and the whole where work was counted.
 */

/* A row is of a function, or of all of them. */
struct history_row {
	uint32_t function; /* HISTORY_WHOLE: the total */
	bool is_self;
};

struct history_rows {
	const struct history_series *series; /* borrowed */
	struct history_row *items;           /* owned; the whole first, where it is tested */
	struct evidence_series_row *weighed; /* owned: [row] */
	size_t count;
	struct evidence_series model; /* its arrays are owned */
	double *samples;              /* owned: of the rows */
	double *work;        /* owned: [row * profiles + profile], where rows have a rhythm; NULL: they do not */
	double *common_work; /* owned: [profile] */
	bool *changed;       /* owned: of the rows' functions */
};

/* Numbers the starts of the program that profiles are of; each has its own where nothing tells. */
void starts_number(const struct history *history, const struct history_series *series, uint32_t *starts);

void rows_fill(const struct history *history, const struct history_series *series, struct history_rows *rows);
void rows_deinit(struct history_rows *rows);
