/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the room of histories is to define; to be deleted when it does. */
#include "history/history.h"

void history_values(const struct history *history, const struct history_series *series, uint32_t function, bool is_self,
	double *values)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *profile = &history->set->items[series->profiles[i]];
		const struct summary_row *row;

		if (function == HISTORY_WHOLE) {
			values[i] = profile->total * series->factor[i];
			continue;
		}
		row = summary_row_of(profile, function);
		values[i] = row ? (is_self ? row->self : row->total) * series->factor[i] / series->typical_total * 100 : 0;
	}
}

struct history_pair history_pair_of(const struct history *history, size_t series, size_t point)
{
	const struct history_series *s = &history->series[series];
	struct history_pair pair = { .series = series, .point = point };
	size_t at = s->points[point].at, from = point ? s->points[point - 1].at : 0, to = point + 1 < s->point_count ? s->points[point + 1].at : s->count;

	if (at - from > 10) from = at - 10;
	if (to - at > 10) to = at + 10;
	for (size_t i = from; i < at; i++)
		pair.profiles[0][pair.count[0]++] = s->profiles[i];
	for (size_t i = at; i < to; i++)
		pair.profiles[1][pair.count[1]++] = s->profiles[i];
	return pair;
}
