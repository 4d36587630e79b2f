/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/history_gate.h"

#include "cli/cli.h"

#include <math.h>
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

/* The growth in percent of what it was; INFINITY: there was nothing. */
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
	const struct history_change *change, const struct diff_gate *gate)
{
	const struct summary_set *set = history->set;
	const struct summary *newest = &set->items[series->profiles[series->count - 1]];
	double growth = gate_growth(change);
	char more[64];

	if (isfinite(growth))
		snprintf(more, sizeof(more), "by %.1f %%, above the limit of %g %%", growth, gate->percent);
	else
		snprintf(more, sizeof(more), "from nothing, which exceeds every limit (here %g %%)", gate->percent);
	cli_say("kelvin: %s grew %s, with %s (q %.2g)\n",
		change->function == HISTORY_WHOLE ? "the total"
						  : summary_string(set, set->functions[change->function].shown),
		more, summary_string(set, newest->name), change->q);
}

int history_gate_code(const struct history *history, const struct diff_gate *gates, size_t count)
{
	bool failed = false, judged = false;

	for (size_t i = 0; i < history->series_count; i++) {
		const struct history_series *series = &history->series[i];

		judged |= series->count >= LEAST_PROFILES;
		for (size_t k = 0; k < series->change_count; k++)
			for (size_t g = 0; g < count; g++)
				if (gate_is_exceeded(history, series, &series->changes[k], &gates[g])) {
					gate_say(history, series, &series->changes[k], &gates[g]);
					failed = true;
				}
	}
	if (failed)
		return CLI_EXIT_REGRESSED;
	if (judged || count == 0)
		return CLI_EXIT_OK;
	cli_say("kelvin: the --fail-on limits were not checked: no series has %d profiles or more, which show how much the newest may differ by chance\n",
		LEAST_PROFILES);
	return CLI_EXIT_INCONCLUSIVE;
}
