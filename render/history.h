/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"
#include "render/report.h"

/*
 * Output of a history: what changed since when, what came and went, and for each point the diff of the profiles before
 * and behind it.
 */

struct render_history_part {
	struct history_pair pair;
	struct render_input input; /* the diff of the pair */
};

/* All members are borrowed. */
struct render_history {
	const struct history *history;
	const struct render_history_part *parts; /* by series and point; points without one cannot be opened */
	size_t part_count;
	const char *tool;
	/*
	 * Returns the words by which the command line names a pair: "kelvin diff A,B C,D"; NULL: profiles are called by
	 * their names.
	 */
	const char *(*side_words)(void *context, const struct history_pair *pair, enum diff_side side);
	void *context;
	size_t max_page_bytes; /* as in struct render_suite */
};

/* Returns the part that explains a point; NULL: there is none. */
const struct render_history_part *render_history_part_of(
	const struct render_history *input, size_t series, size_t point);

/* Writes one screen: open changes, those that came and went, drifts, sparklines, the pairs to look at. */
COMMON_MUST_CHECK
bool render_history_text(const struct render_history *input, const struct render_text_options *options,
	struct buffer *out, struct error *err);

/* Writes JSON by schema kelvin.history/1 (docs/json.md). */
COMMON_MUST_CHECK
bool render_history_json(const struct render_history *input, struct buffer *out, struct error *err);

/* Writes at most 65,536 characters with a hidden marker first. */
COMMON_MUST_CHECK
bool render_history_markdown(const struct render_history *input, struct buffer *out, struct error *err);

/*
 * Writes one page with a line for each function over time, whose points open the diffs of the parts (docs/report.md).
 */
COMMON_MUST_CHECK
bool render_history_html(const struct render_history *input, struct buffer *out, struct error *err);
