/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighs two stretches of a series as a comparison of their profiles does. */
#include "diff/evidence/series_model.h"

#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"

#include <math.h>
#include <stdlib.h>

/* A stretch of profiles as a side of a comparison. */
struct series_side {
	double *samples, *work; /* owned */
	size_t count;
};

static void series_side_deinit(struct series_side *side)
{
	free(side->samples);
	free(side->work);
}

/* Fills the profiles [stretch[0], stretch[1]); those of one start add up where it is asked for. */
static void series_side_init(const struct evidence_series *series, const struct evidence_series_row *row,
	const size_t stretch[2], bool by_start, struct series_side *side)
{
	size_t most = stretch[1] - stretch[0] + 1;

	*side = (struct series_side){ memory_alloc(most * sizeof(double)), memory_alloc(most * sizeof(double)), 0 };
	for (size_t i = stretch[0]; i < stretch[1]; i++) {
		bool is_next = i == stretch[0] || !by_start || series->starts[i] != series->starts[i - 1];

		if (is_next) {
			side->samples[side->count] = 0;
			side->work[side->count++] = 0;
		}
		side->samples[side->count - 1] += row->samples[i];
		side->work[side->count - 1] += row->work[i];
	}
}

static double series_mean(const double *values, const size_t stretch[2])
{
	return evidence_add(values + stretch[0], stretch[1] - stretch[0]) / (double)(stretch[1] - stretch[0]);
}

struct evidence_factor series_factor_of(
	const struct evidence_series *series, const struct evidence_series_row *row, double common, double load)
{
	const struct evidence_load known = { .change = load, .totals = series->totals, .is_apart = true };

	if (row->is_total)
		return evidence_factor_of_load(&known);
	return (struct evidence_factor){ .load = load,
		.variance = evidence_square(evidence_session_sd) + evidence_square(evidence_follow * common) };
}

static struct evidence_factor series_factor(const struct evidence_series *series, const struct evidence_series_row *row,
	const size_t base[2], const size_t head[2])
{
	double common = series->factors ? series_mean(series->factors, head) - series_mean(series->factors, base) : 0;
	double load = series->loads ? series_mean(series->loads, head) - series_mean(series->loads, base) : 0;

	return series_factor_of(series, row, common, load);
}

static void series_weigh(const struct evidence_series *series, const struct evidence_series_row *row,
	const size_t base[2], const size_t head[2], struct evidence *evidence)
{
	const struct evidence_factor factor = series_factor(series, row, base, head);
	bool by_start = series->starts[base[0]] != series->starts[head[1] - 1];
	struct series_side sides[EVIDENCE_SIDES];
	struct evidence_row weighed = { .class = row->class };

	series_side_init(series, row, base, by_start, &sides[0]);
	series_side_init(series, row, head, by_start, &sides[1]);
	if (row->is_total)
		evidence_make_certain((double *const[]){ sides[0].samples, sides[1].samples },
			(const size_t[]){ sides[0].count, sides[1].count });
	for (int side = 0; side < EVIDENCE_SIDES; side++)
		weighed.sides[side] =
			(struct evidence_counts){ sides[side].samples, sides[side].work, sides[side].count };
	evidence_weigh_row(&weighed, &factor, evidence);
	for (int side = 0; side < EVIDENCE_SIDES; side++)
		series_side_deinit(&sides[side]);
}

void evidence_weigh_split(const struct evidence_series *series, const struct evidence_series_row *row,
	const struct evidence_split *split, struct evidence *evidence)
{
	series_weigh(series, row, (const size_t[]){ split->from, split->at }, (const size_t[]){ split->at, split->to },
		evidence);
}

double evidence_gain_between(const struct evidence_series *series, const struct evidence_series_row *row,
	const size_t base[2], const size_t head[2])
{
	struct evidence evidence;

	series_weigh(series, row, base, head, &evidence);
	return evidence_gain(&evidence);
}

/* ---- Trends ---- */

/* The logarithms of the costs of profiles, with the variances that counting gives them. */
struct series_logs {
	double *values, *counting; /* owned: [profile] */
	size_t count;
};

static void series_logs_deinit(struct series_logs *logs)
{
	free(logs->values);
	free(logs->counting);
}

static void series_logs_init(
	const struct evidence_series *series, const struct evidence_series_row *row, struct series_logs *logs)
{
	*logs = (struct series_logs){ memory_alloc(series->count * sizeof(double)),
		memory_alloc(series->count * sizeof(double)), series->count };
	for (size_t i = 0; i < series->count; i++) {
		logs->values[i] = log((row->samples[i] + .5) / row->work[i]);
		logs->counting[i] = row->is_total ? 0 : 1 / (row->samples[i] + .5);
	}
}

/* Fits a line to the profiles of a stretch, of a slope of 0 if it is level, and returns its log likelihood. */
static double series_line(
	const struct series_logs *logs, const size_t stretch[2], double spread, bool is_level, double ends[2])
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, slope = 0, start, sum = 0;

	for (size_t i = stretch[0]; i < stretch[1]; i++) {
		double weight = 1 / (logs->counting[i] + evidence_square(spread)), at = (double)(i - stretch[0]);

		w += weight;
		x += weight * at;
		y += weight * logs->values[i];
		xx += weight * at * at;
		xy += weight * at * logs->values[i];
	}
	if (!is_level && w * xx > x * x)
		slope = (w * xy - x * y) / (w * xx - x * x);
	start = (y - slope * x) / w;
	for (size_t i = stretch[0]; i < stretch[1]; i++)
		sum += log(evidence_density(logs->values[i] - start - slope * (double)(i - stretch[0]),
				   logs->counting[i] + evidence_square(spread)) +
			   1e-300);
	ends[0] = start;
	ends[1] = start + slope * (double)(stretch[1] - stretch[0] - 1);
	return sum;
}

static double series_steps(const struct series_logs *logs, const size_t *ats, size_t count, double spread)
{
	double sum = 0, ends[2];

	for (size_t i = 0; i <= count; i++) {
		const size_t stretch[2] = { i == 0 ? 0 : ats[i - 1], i == count ? logs->count : ats[i] };

		sum += series_line(logs, stretch, spread, true, ends);
	}
	return sum;
}

bool evidence_is_trend(const struct evidence_series *series, const struct evidence_series_row *row, const size_t *ats,
	size_t count, double *first, double *last)
{
	const size_t all[2] = { 0, series->count };
	double steps = -INFINITY, line = -INFINITY, parameters = 2 * (double)count + 1;
	CLEANUP(series_logs_deinit) struct series_logs logs;

	series_logs_init(series, row, &logs);
	for (int k = 0; k < EVIDENCE_OTHER_SPREADS; k++) {
		double ends[2], of_line = series_line(&logs, all, evidence_spreads[k], false, ends);

		steps = fmax(steps, series_steps(&logs, ats, count, evidence_spreads[k]));
		if (of_line <= line)
			continue;
		line = of_line;
		*first = ends[0];
		*last = ends[1];
	}
	for (size_t i = 0; i < count; i++)
		parameters -= series->is_known[ats[i]];
	return line - log((double)series->count) + log(evidence_trend_part / (1 - evidence_trend_part)) >
	       steps - .5 * parameters * log((double)series->count);
}
