/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history/rows.h"

#include <math.h>
#include <stdlib.h>

/* Fewer profiles do not show how a function follows the machine's speed. */
enum { MIN_PROFILES = 8 };

/* The speed about its mean between two deploys: what deploys change is none of the machine's. */
static void centre(const struct history_series *series, double *speed)
{
	for (size_t p = 0; p <= series->point_count; p++) {
		size_t from = p == 0 ? 0 : series->points[p - 1].at;
		size_t to = p == series->point_count ? series->count : series->points[p].at;
		double mean = 0;

		for (size_t i = from; i < to; i++)
			mean += speed[i] / (double)(to - from);
		for (size_t i = from; i < to; i++)
			speed[i] -= mean;
	}
}

/* By how much of its mean the row has more where the machine is slower by a factor of e: least squares. */
static double slope_of(const struct tested_rows *rows, const struct tested_row *row, const double *speed)
{
	double products = 0, squares = 0;

	for (size_t i = 0; i < rows->series->count; i++) {
		products += speed[i] * row->values[i];
		squares += speed[i] * speed[i];
	}
	return squares > 0 ? products / squares : 0;
}

bool speed_remove(const struct history_build *build, struct tested_rows *rows, struct error *err)
{
	size_t n = rows->series->count;
	CLEANUP(cleanup_free) double *speed = malloc(n * sizeof(*speed));
	bool is_known = false;

	if (rows->series->scale == DIFF_SCALE_ROBUST || n < MIN_PROFILES)
		return true;
	if (!speed)
		return error_set_memory(err);
	if (!factors_speed(build->history, rows->series, speed, &is_known, err))
		return false;
	if (!is_known)
		return true;
	centre(rows->series, speed);
	for (size_t r = 0; r < rows->count; r++) {
		struct tested_row *row = &rows->items[r];
		double slope = slope_of(rows, row, speed);

		for (size_t i = 0; row->function != HISTORY_WHOLE && i < n; i++)
			row->values[i] -= slope * speed[i];
	}
	return true;
}
