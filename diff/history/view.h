/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/files.h"

struct history;
struct history_options;
struct history_pair;
struct history_view_part;

/*
 * The parts of a history that outputs show: for each point with changes, the diff of the profiles on both sides of it.
 */
struct history_view {
	struct history *history;           /* borrowed */
	const struct history_files *files; /* borrowed, as all below: where profiles of pairs come from */
	const struct history_reading *reading;
	struct history_cache *cache;
	const struct history_options *options;
	bool wants_diffs; /* of all points, for the page; else what they found is enough, which the cache may know */
	struct history_view_part *parts; /* owned: those of points whose diffs are shown */
	size_t count;
	struct buffer words[DIFF_SIDES]; /* of history_view_side_words() */
};

/* Explains the points. The view is to be released in any case. */
COMMON_MUST_CHECK
bool history_view_explain(struct history_view *view, struct error *err);
void history_view_deinit(struct history_view *view);

/* Returns what a command line has for the profiles of a side, until the next call; the context is the view. */
const char *history_view_side_words(void *context, const struct history_pair *pair, enum diff_side side);
