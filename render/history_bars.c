/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/history_bars.h"

#include <math.h>
#include <stdlib.h>

enum { LEVELS = 8, LOWEST_BLOCK = 0x2581 /* an eighth of a block; the whole one is seven further on */ };

void history_bars_init(struct history_bars *bars, const struct history_words *words, size_t most)
{
	size_t count = words->series->count;

	*bars = (struct history_bars){
		.words = words, .count = count < most ? count : most, .values = memory_zeroed(count + 1, sizeof(double))
	};
}

void history_bars_deinit(struct history_bars *bars)
{
	free(bars->values);
}

size_t history_bars_start(const struct history_bars *bars, size_t bar)
{
	return bar * bars->words->series->count / bars->count;
}

/* Returns the mean of the profiles of a bar. */
static double bar_value(const struct history_bars *bars, size_t bar)
{
	size_t from = history_bars_start(bars, bar), to = history_bars_start(bars, bar + 1);
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += bars->values[i];
	return sum / (double)(to - from);
}

void history_bars_append(
	const struct history_bars *bars, uint32_t function, bool is_self, double range[static 2], struct buffer *out)
{
	double least = INFINITY, most = -INFINITY;

	history_values(bars->words->history, bars->words->series, function, is_self, bars->values);
	for (size_t i = 0; i < bars->count; i++) {
		double value = bar_value(bars, i);

		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	range[0] = least;
	range[1] = most;
	for (size_t i = 0; i < bars->count; i++) {
		double share = most > least ? (bar_value(bars, i) - least) / (most - least) : 0;

		unicode_append(out, LOWEST_BLOCK + (share > 0 ? (uint32_t)fmin(share * LEVELS, LEVELS - 1) : 0));
	}
}
