/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"
#include "diff/suite/work.h"

/*
 * The benchmarks that both sides have, as rows of the model of evidence. A profile is an execution, and the work are
 * iterations; an execution counts as any other, and has as many samples as the relative errors of the values within
 * executions are worth: 1 over the mean of their squares.
 *
 * What all benchmarks of an execution have in common is taken out of them, and tells how far the machine varies from
 * execution to execution, and so how far head's executions may differ from base's together. With fewer benchmarks than
 * tell it, it is left in each of them, where it is a part of what starts differ by.
 */
struct suite_rows {
	const struct suite_work *work; /* borrowed */
	bool of_cpu;                   /* values are CPU times, of benchmarks where all are known */
	bool has_layouts;              /* both sides have several, which are the profiles in place of executions */
	bool in_pairs;                 /* profile i of base and of head are of one pair */
	size_t count;
	uint32_t *benchmarks;      /* owned: [row] */
	struct evidence_row *rows; /* owned: [row] */
	struct evidence_factor factor;
	double (*priors)[EVIDENCE_SPREADS]; /* owned: [row] */
	size_t most[DIFF_SIDES];            /* profiles of a row */
	/* Owned, [row * most + profile]: logarithms, the variances of those within executions, which execution it is */
	double *values[DIFF_SIDES], *variances[DIFF_SIDES];
	uint32_t *executions[DIFF_SIDES];
	double *samples[DIFF_SIDES], *times[DIFF_SIDES], *parts[DIFF_SIDES]; /* of the rows; owned */
};

/*
 * Makes the rows with their factor. `further`: [benchmark] variance of the logarithm of its ratio that executions do
 * not show; NULL: there is none.
 */
void suite_rows_init(struct suite_rows *rows, const struct suite_work *work, bool of_cpu, const double *further);
void suite_rows_deinit(struct suite_rows *rows);

/* Returns what a row takes on a side: the geometric mean over its executions, as far as they count. */
double suite_rows_value(const struct suite_rows *rows, size_t row, enum diff_side side);

/* Returns the standard deviation of a row's values around the means of their sides; 0: a side has one. */
double suite_rows_deviation(const struct suite_rows *rows, size_t row);
