/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer, what profiles differ by without a reason is not known. */
enum { LEAST_PROFILES = 4 };

static bool gate_is_about(const struct history *history, const struct diff_gate *gate, uint32_t function)
{
	const struct summary_set *set = history->set;

	if ((gate->subject == DIFF_GATE_TOTAL) != (function == HISTORY_WHOLE))
		return false;
	if (!gate->function)
		return true;
	return diff_gate_is_about(gate->function, summary_string(set, set->functions[function].name)) ||
	       diff_gate_is_about(gate->function, summary_string(set, set->functions[function].shown));
}

/* Returns the growth in percent of what it was; INFINITY: there was nothing. */
static double gate_growth(const struct history_change *change)
{
	return change->before > 0 ? 100 * change->delta / change->before : INFINITY;
}

static bool gate_is_exceeded(const struct history *history, const struct history_series *series,
	const struct history_change *change, const struct diff_gate *gate)
{
	return series->points[change->point].at + 1 == series->count && change->went == SIZE_MAX &&
	       !change->has_moved && change->delta > 0 && gate_is_about(history, gate, change->function) &&
	       gate_growth(change) > gate->percent;
}

static void gate_say(const struct history *history, const struct history_series *series,
	const struct history_change *change, const struct diff_gate *gate, struct buffer *said)
{
	const struct summary_set *set = history->set;
	const struct summary *newest = &set->items[series->profiles[series->count - 1]];
	double growth = gate_growth(change);
	char more[64];

	if (isfinite(growth))
		snprintf(more, sizeof(more), "by %.1f %%, above the limit of %g %%", growth, gate->percent);
	else
		snprintf(more, sizeof(more), "from nothing, which exceeds every limit (here %g %%)", gate->percent);
	buffer_printf(said, "%s grew %s, with %s (q %.2g)\n",
		change->function == HISTORY_WHOLE ? "the total"
						  : summary_string(set, set->functions[change->function].shown),
		more, summary_string(set, newest->name), change->q);
}

/* ---- What is not proven ---- */

/* A rule about a name that nothing has never fires: a typing error, or a function that is gone. */
static void gate_say_unknown(const struct history *history, const struct diff_gate *gate, struct buffer *said)
{
	for (uint32_t i = 0; gate->function && i < history->set->function_count; i++)
		if (gate_is_about(history, gate, i))
			return;
	if (gate->function)
		buffer_printf(said,
			"--fail-on 'function:%s': no profile of the history has samples of a function with this name\n",
			gate->function);
}

/* The newest profile of a series, asked alone, against those since the last change of each row. */
struct gate_newest {
	struct history_rows rows;
	struct evidence_change *items; /* owned: [row] */
};

static void gate_newest_deinit(struct gate_newest *newest)
{
	rows_deinit(&newest->rows);
	free(newest->items);
}

/* Returns the first profile since the last change of a row before the newest profile. */
static size_t gate_begin_of(const struct history_series *series, const struct history_row *row)
{
	size_t begin = 0;

	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];
		size_t points[] = { change->point, change->went };

		for (size_t k = 0; k < 2 && change->function == row->function && change->is_self == row->is_self; k++)
			if (points[k] != SIZE_MAX && series->points[points[k]].at + 1 < series->count &&
				series->points[points[k]].at > begin)
				begin = series->points[points[k]].at;
	}
	return begin;
}

static void gate_newest_init(
	const struct history *history, const struct history_series *series, struct gate_newest *newest)
{
	rows_fill(history, series, &newest->rows);
	newest->items = memory_zeroed(newest->rows.count + 1, sizeof(*newest->items));
	for (size_t i = 0; i < newest->rows.count; i++)
		newest->items[i].split.from = gate_begin_of(series, &newest->rows.items[i]);
	evidence_series_newest(&newest->rows.model, newest->rows.weighed, newest->rows.count, newest->items);
}

static double gate_percent_of(const struct evidence_change *change)
{
	return 100 * expm1(change->effect);
}

static void gate_say_open(const struct history *history, const struct history_series *series,
	const struct gate_newest *newest, size_t row, const struct diff_gate *gate, struct buffer *said)
{
	const struct summary_set *set = history->set;
	uint32_t function = newest->rows.items[row].function;

	buffer_printf(said,
		"the limit of %g %% on %s is not decided: it grew by %.1f %% with %s, which is likely, and among all profiles not proven by a single one; record that build at least twice more\n",
		gate->percent,
		function == HISTORY_WHOLE ? "the total" : summary_string(set, set->functions[function].shown),
		gate_percent_of(&newest->items[row]),
		summary_string(set, set->items[series->profiles[series->count - 1]].name));
}

/*
 * Returns whether a limit of the series is not decided: asked alone the newest profile is beyond it, and among all
 * positions that is not proven. The row that grew most likely is told.
 */
static bool gate_is_open(const struct history *history, const struct history_series *series,
	const struct gate_newest *newest, const struct diff_gate *gate, struct buffer *said)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < newest->rows.count; i++) {
		if (!gate_is_about(history, gate, newest->rows.items[i].function) || newest->items[i].q > history->q ||
			gate_percent_of(&newest->items[i]) <= gate->percent)
			continue;
		if (found == SIZE_MAX || newest->items[i].p < newest->items[found].p)
			found = i;
	}
	if (found != SIZE_MAX)
		gate_say_open(history, series, newest, found, gate, said);
	return found != SIZE_MAX;
}

/* ---- All limits ---- */

enum history_gate_result history_gate_judge(
	const struct history *history, const struct diff_gate *gates, size_t count, struct buffer *said)
{
	bool failed = false, judged = false, open = false;

	for (size_t g = 0; g < count; g++)
		gate_say_unknown(history, &gates[g], said);

	for (size_t i = 0; i < history->series_count; i++) {
		const struct history_series *series = &history->series[i];

		judged |= series->count >= LEAST_PROFILES;
		for (size_t k = 0; k < series->change_count; k++)
			for (size_t g = 0; g < count; g++)
				if (gate_is_exceeded(history, series, &series->changes[k], &gates[g])) {
					gate_say(history, series, &series->changes[k], &gates[g], said);
					failed = true;
				}
	}
	if (failed)
		return HISTORY_GATE_EXCEEDED;
	for (size_t i = 0; i < history->series_count && count > 0; i++) {
		const struct history_series *series = &history->series[i];
		CLEANUP(gate_newest_deinit) struct gate_newest newest = { 0 };

		if (series->count < LEAST_PROFILES)
			continue;
		gate_newest_init(history, series, &newest);
		for (size_t g = 0; g < count; g++)
			open |= gate_is_open(history, series, &newest, &gates[g], said);
	}
	if (open)
		return HISTORY_GATE_OPEN;
	if (judged || count == 0)
		return HISTORY_GATE_PASSED;
	buffer_printf(said,
		"the --fail-on limits were not checked: no series has %d profiles or more, which show how much the newest may differ by chance\n",
		LEAST_PROFILES);
	return HISTORY_GATE_OPEN;
}
