/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/search.h"

#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Variation from one start of a program to the next, as by the placement of its memory: functions of unchanged code
 * show it, where profiles on both sides of a start are of one process each. Where they are too few it is assumed.
 */
enum { MIN_SHOWN = 10 };
static const double least_rsd = 0.01;

/* A function that varies more within a process says little of starts. */
static const double most_error = 0.1;

/* The median of a chi-squared variable with one degree of freedom. */
static const double chi_squared_median = 0.4549;

/* The sampler says "pid 812 (server)" of what it attached to. */
static bool is_attached(const char *command)
{
	return strncmp(command, "pid ", 4) == 0;
}

static bool processes_is_same_process(const struct history *history, const struct summary *a, const struct summary *b)
{
	static const char *const keys[] = { "started", PROFILE_LABEL_HOST };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *x = summary_label(history->set, a, keys[i]), *y = summary_label(history->set, b, keys[i]);

		if ((x != NULL) != (y != NULL) || (x && strcmp(x, y) != 0))
			return false;
	}
	return a->facts.command == b->facts.command && a->facts.container == b->facts.container;
}

void processes_number(const struct history *history, const struct history_series *series, uint32_t **processes)
{
	uint32_t number = 0;

	*processes = NULL;
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		if (!is_attached(summary_string(history->set, summary->facts.command)) &&
			!summary_label(history->set, summary, "started"))
			return;
	}
	*processes = memory_alloc(series->count * sizeof(**processes));
	for (size_t i = 0; i < series->count; i++) {
		if (i > 0 && !processes_is_same_process(history, series_summary(history, series, i - 1),
				     series_summary(history, series, i)))
			number++;
		(*processes)[i] = number;
	}
}

static uint64_t fingerprint_of(
	const struct history *history, const struct history_series *series, size_t profile, uint32_t function)
{
	const struct summary_row *row = summary_row_of(series_summary(history, series, profile), function);

	return row ? row->fingerprint : 0;
}

/* Finds the difference that one row shows at the start at [from, at, to); false: nothing. */
static bool shows(const struct history *history, const struct tested_rows *rows, const struct tested_row *row,
	size_t from, size_t at, size_t to, double *excess)
{
	const struct history_series *series = rows->series;
	uint64_t before = row->function == HISTORY_WHOLE || !row->is_self
				  ? 0
				  : fingerprint_of(history, series, at - 1, row->function);
	struct contrast contrast;
	double parts = 2 - 1 / (double)(at - from) - 1 / (double)(to - at);

	if (before == 0 || before != fingerprint_of(history, series, at, row->function) || parts <= 0)
		return false;
	contrast = contrast_of(rows, row, from, at, to, NULL, 0);
	if (contrast.error > most_error * row->mean)
		return false;
	*excess = (pow((contrast.after - contrast.before) / row->mean, 2) / chi_squared_median -
			  pow(contrast.error / row->mean, 2)) /
		  parts;
	return true;
}

void processes_vary(
	const struct history *history, const struct tested_rows *rows, const uint32_t *processes, double *rsd)
{
	size_t n = rows->series->count, count = 0, capacity = 0, from = 0;
	CLEANUP(cleanup_free) struct weighted_value *excesses = NULL;

	*rsd = history_assumed_rsd;
	for (size_t at = 1; processes && at < n; at++) {
		size_t to = at + 1;

		if (processes[at] == processes[at - 1])
			continue;
		while (to < n && processes[to] == processes[at])
			to++;
		for (size_t i = 0; i < rows->count; i++) {
			double excess;

			if (!shows(history, rows, &rows->items[i], from, at, to, &excess))
				continue;
			ARRAY_PUSH(&excesses, &capacity, &count, (struct weighted_value){ excess, 1 });
		}
		from = at;
	}
	if (count >= MIN_SHOWN)
		*rsd = sqrt(fmax(least_rsd * least_rsd, weighted_median(excesses, count)));
}
