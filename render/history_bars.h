/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/history_words.h"

/* A function over time in one line: a bar for each profile, or where there are more than bars for some that follow. */

struct history_bars {
	const struct history_words *words; /* borrowed */
	size_t count;                      /* bars of each line */
	double *values;                    /* owned; [profile] */
};

/* Makes lines of at most so many bars, one or more. */
void history_bars_init(struct history_bars *bars, const struct history_words *words, size_t most);
void history_bars_deinit(struct history_bars *bars);

/* Returns the first profile of a bar; that of the bar after the last one is the number of profiles. */
size_t history_bars_start(const struct history_bars *bars, size_t bar);

/* Appends the bars of a function, from its least mean to its greatest one: `range`. */
void history_bars_append(
	const struct history_bars *bars, uint32_t function, bool is_self, double range[static 2], struct buffer *out);
