/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/history.h"

enum { HISTORY_FIXTURE_SERIES = 2, HISTORY_FIXTURE_PARTS = 4 };

/*
 * Histories made by hand, whose points are explained by real diffs of small profiles. A failure to make one ends the
 * program, so that the viewer's pages can be made of them too.
 */
struct history_fixture {
	struct summary_set set;
	struct history history;
	struct history_series series[HISTORY_FIXTURE_SERIES];
	struct profile *profiles[HISTORY_FIXTURE_PARTS][DIFF_SIDES]; /* owned */
	struct diff *diffs[HISTORY_FIXTURE_PARTS];                   /* owned */
	struct render_history_part parts[HISTORY_FIXTURE_PARTS];
	struct render_history input; /* borrows from the others */
};

enum history_fixture_kind {
	/*
	 * A service over 42 days, per request: a change at a deploy, one where a library changed, an improvement, cost
	 * that moved, one that came and went, and a drift; a second series without a change; a notice
	 */
	HISTORY_CHECKOUT,
	HISTORY_SHARES,  /* the same, where nothing counted requests: parts of a total without a test of the total */
	HISTORY_QUIET,   /* no change in 12 profiles */
	HISTORY_HOSTILE, /* names that try to break out of every format; figures that are not numbers; times not known
			  */
	HISTORY_LARGE,   /* 1,000 profiles of 3,000 functions, of which 400 changed at 20 points */
};

void history_fixture_create(struct history_fixture *fixture, enum history_fixture_kind kind);
void history_fixture_destroy(struct history_fixture *fixture);

/* What was written, NUL-terminated; to be freed. A width of 0: everything. */
char *history_fixture_text(const struct history_fixture *fixture, unsigned int width, bool colour);
char *history_fixture_json(const struct history_fixture *fixture);
char *history_fixture_markdown(const struct history_fixture *fixture);
char *history_fixture_html(const struct history_fixture *fixture);
