/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rows.h"

#include <math.h>
#include <stdlib.h>

/* Fewer profiles do not show how a function follows the machine's speed. */
enum { MIN_PROFILES = 8 };

/*
 * Makes the speed one about its mean between deploys and starts: what those change is none of the machine's. Where none
 * is known a step of the typical cost may be that of a release which changed many functions: false.
 */
static bool centre(const struct tested_rows *rows, double *speed)
{
	size_t stretches = 0;

	for (size_t from = 0, to; from < rows->series->count; from = to) {
		double mean = 0;

		to = rows_stretch_end(rows, from);
		for (size_t i = from; i < to; i++)
			mean += speed[i] / (double)(to - from);
		for (size_t i = from; i < to; i++)
			speed[i] -= mean;
		stretches++;
	}
	return stretches > 1;
}

/* Returns by how much of its mean the row has more where the machine is slower by a factor of e: least squares. */
static double slope_of(const struct tested_rows *rows, const struct tested_row *row, const double *speed)
{
	double products = 0, squares = 0;

	for (size_t i = 0; i < rows->series->count; i++) {
		products += speed[i] * row->values[i];
		squares += speed[i] * speed[i];
	}
	return squares > 0 ? products / squares : 0;
}

void speed_remove(const struct history_build *build, struct tested_rows *rows)
{
	size_t n = rows->series->count;
	CLEANUP(cleanup_free) double *speed = memory_alloc(n * sizeof(*speed));
	bool is_known = false;

	if (rows->series->scale == DIFF_SCALE_ROBUST || n < MIN_PROFILES)
		return;
	factors_speed(build->history, rows->series, speed, &is_known);
	if (!is_known || !centre(rows, speed))
		return;
	for (size_t r = 0; r < rows->count; r++) {
		struct tested_row *row = &rows->items[r];
		double slope = slope_of(rows, row, speed);

		for (size_t i = 0; row->function != HISTORY_WHOLE && i < n; i++)
			row->values[i] -= slope * speed[i];
	}
}
