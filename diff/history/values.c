/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/build.h"

#include <math.h>

void history_values(const struct history *history, const struct history_series *series, uint32_t function, bool is_self,
	double *values)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);
		const struct summary_row *row;

		if (function == HISTORY_WHOLE) {
			values[i] = summary->total * series->factor[i];
			continue;
		}
		row = summary_row_of(summary, function);
		values[i] =
			row ? (is_self ? row->self : row->total) * series->factor[i] * 100 / series->typical_total : 0;
	}
}

/* Returns whether something is proven to have changed there, or to have gone again. */
static bool has_change(const struct history_series *series, size_t point)
{
	for (size_t i = 0; i < series->change_count; i++) {
		if (series->changes[i].point == point || series->changes[i].went == point)
			return true;
	}
	return false;
}

struct history_pair history_pair_of(const struct history *history, size_t series, size_t point)
{
	const struct history_series *s = &history->series[series];
	struct history_pair pair = { .series = series, .point = point };
	size_t at = s->points[point].at, from = 0, to = s->count;

	for (size_t i = 0; i < point; i++) {
		if (has_change(s, i))
			from = s->points[i].at;
	}
	for (size_t i = s->point_count; i-- > point + 1;) {
		if (has_change(s, i))
			to = s->points[i].at;
	}
	if (at - from > HISTORY_PAIR_PROFILES)
		from = at - HISTORY_PAIR_PROFILES;
	if (to - at > HISTORY_PAIR_PROFILES)
		to = at + HISTORY_PAIR_PROFILES;
	for (size_t i = from; i < to; i++) {
		enum diff_side side = i < at ? DIFF_BASE : DIFF_HEAD;

		pair.profiles[side][pair.count[side]++] = s->profiles[i];
	}
	return pair;
}
