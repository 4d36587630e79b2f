/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

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

/* Compares a row's newest value with the median and the span of all values before it. */
struct newest {
	double value, usual, least, most;
};

static int history_gate_compare_values(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return ORDER(*a, *b);
}

static struct newest gate_newest(const struct history *history, const struct history_series *series, uint32_t function,
	bool is_self, double *values)
{
	size_t former = series->count - 1;
	double value;

	history_values(history, series, function, is_self, values);
	value = values[former];
	qsort(values, former, sizeof(*values), history_gate_compare_values);
	return (struct newest){ value, values[former / 2], values[0], values[former - 1] };
}

/*
 * Returns whether the newest value is beyond a limit and stands out, although one profile proves nothing: it lies above
 * all the former ones. Of a rule about any function it is the one of many that does so by chance, and has to lie above
 * them by more than they differ among themselves, and by as much as five samples in a thousand are.
 */
static bool gate_stands_out(const struct history_series *series, uint32_t function, const struct newest *newest,
	const struct diff_gate *gate)
{
	static const double least_points = 0.5;
	double excess = newest->value - newest->most;

	if (excess <= 0 || newest->value <= newest->usual * (1 + gate->percent / 100))
		return false;
	if (function == HISTORY_WHOLE)
		return excess * 100 >= least_points * series->typical_total;
	return excess >= least_points && (gate->function || excess > newest->most - newest->least);
}

static bool gate_is_proven(const struct history_series *series, uint32_t function)
{
	for (size_t i = 0; i < series->change_count; i++)
		if (series->changes[i].function == function && series->changes[i].went == SIZE_MAX)
			return true;
	return false;
}

static void gate_say_open(const struct history *history, const struct history_series *series, uint32_t function,
	const struct newest *newest, const struct diff_gate *gate, struct buffer *said)
{
	const struct summary_set *set = history->set;
	double unit = function == HISTORY_WHOLE ? 100 / series->typical_total : 1;

	buffer_printf(said,
		"the limit of %g %% on %s is not decided: it takes %.1f %% of the usual total with %s, and took at most %.1f %% before, "
		"which a single profile does not prove; record that build at least twice more\n",
		gate->percent,
		function == HISTORY_WHOLE ? "the total" : summary_string(set, set->functions[function].shown),
		newest->value * unit, summary_string(set, set->items[series->profiles[series->count - 1]].name),
		newest->most * unit);
}

/*
 * Returns whether a limit of the series is not decided, also for want of memory; the row that stands out most is told.
 */
static bool gate_is_open(const struct history *history, const struct history_series *series,
	const struct diff_gate *gate, struct buffer *said)
{
	uint32_t count = (uint32_t)history->set->function_count, worst = HISTORY_WHOLE;
	CLEANUP(cleanup_free) double *values = memory_zeroed(series->count, sizeof(*values));
	struct newest most = { 0 };
	bool found = false;

	if (!values) {
		buffer_printf(said, "the limit of %g %% is not decided: out of memory\n", gate->percent);
		return true;
	}
	for (uint32_t i = 0; i <= count; i++) {
		uint32_t function = i < count ? i : HISTORY_WHOLE;
		struct newest newest;

		if (!gate_is_about(history, gate, function) || gate_is_proven(series, function))
			continue;
		newest = gate_newest(history, series, function, true, values);
		if (!gate_stands_out(series, function, &newest, gate) ||
			(found && newest.value - newest.most <= most.value - most.most))
			continue;
		found = true;
		worst = function;
		most = newest;
	}
	if (found)
		gate_say_open(history, series, worst, &most, gate, said);
	return found;
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
	for (size_t i = 0; i < history->series_count; i++)
		for (size_t g = 0; g < count && history->series[i].count >= LEAST_PROFILES; g++)
			open |= gate_is_open(history, &history->series[i], &gates[g], said);
	if (open)
		return HISTORY_GATE_OPEN;
	if (judged || count == 0)
		return HISTORY_GATE_PASSED;
	buffer_printf(said,
		"the --fail-on limits were not checked: no series has %d profiles or more, which show how much the newest may differ by chance\n",
		LEAST_PROFILES);
	return HISTORY_GATE_OPEN;
}
