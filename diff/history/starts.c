/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/rows.h"

#include <stdlib.h>
#include <string.h>

/* The sampler says "pid 812 (server)" of what it attached to. */
static bool starts_is_attached(const char *command)
{
	return strncmp(command, "pid ", 4) == 0;
}

static bool starts_is_same(const struct history *history, const struct summary *a, const struct summary *b)
{
	static const char *const keys[] = { "started", PROFILE_LABEL_HOST };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *x = summary_label(history->set, a, keys[i]), *y = summary_label(history->set, b, keys[i]);

		if ((x != NULL) != (y != NULL) || (x && strcmp(x, y) != 0))
			return false;
	}
	return a->facts.command == b->facts.command && a->facts.container == b->facts.container;
}

/* Returns whether each profile tells which process it is of; else each has its own. */
static bool starts_are_told(const struct history *history, const struct history_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		if (!starts_is_attached(summary_string(history->set, summary->facts.command)) &&
			!summary_label(history->set, summary, "started"))
			return false;
	}
	return true;
}

void starts_number(const struct history *history, const struct history_series *series, uint32_t *starts)
{
	bool are_told = starts_are_told(history, series);

	starts[0] = 0;
	for (size_t i = 1; i < series->count; i++)
		starts[i] =
			starts[i - 1] + (!are_told || !starts_is_same(history, series_summary(history, series, i - 1),
							      series_summary(history, series, i)));
}
