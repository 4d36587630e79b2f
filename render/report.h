/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "diff/diff.h"
#include "profile/profile.h"

/*
 * Makes output for people and programs of a diff, or of a single profile as its one-sided case. Computes no statistics,
 * and writes to a buffer only. The same input gives the same output: no clock, no locale.
 */

/* The question that somebody asks about a profile or a comparison. All members are borrowed. */
struct render_question {
	const struct profile_selection *selection; /* of which samples the diff is; NULL: of all */
	const struct diff *whole; /* the diff, or the report, of all samples; NULL without a selection */
	const struct diff_neighbours *neighbours; /* of the functions of selection->focus; NULL: nobody asked */
	const bool *meant;                        /* [function] which ones these are; NULL without neighbours */
	const struct diff_groups *groups;         /* of the same samples (--by); NULL: nobody asked */
	bool callers, callees;                    /* which of these */
	unsigned int top;                         /* rows of each list; 0: as many as the format has */
	bool has_ids;                             /* text has the ids of functions, which others have anyhow */
};

/* The input of every renderer. All members are borrowed. */
struct render_input {
	const struct diff *diff;
	/* Source of threads, samples over time, facts and quality; [DIFF_BASE] is NULL if diff->sides is 1. */
	const struct profile *profiles[DIFF_SIDES];
	const char *title;             /* NULL: made from the labels, else from the commands */
	const char *names[DIFF_SIDES]; /* the user's names of the sides, such as file names; may be NULL */
	const char *tool;              /* "kelvin 0.1.0" */
	const char *(*origin_rule_text)(
		unsigned int rule);    /* text of the rule that decided an origin; NULL: rules are not explained */
	const struct listing *listing; /* functions line by line; NULL: none */
	const struct commits *commits; /* of `diff --commits`; NULL: nobody asked */
	const struct render_question *question; /* NULL: all is shown, as it is of use */
};

struct render_text_options {
	unsigned int width; /* columns; 0: 100 */
	bool is_whole;      /* all benchmarks of a suite are listed, with their functions: for files and programs */
	bool colour;
	unsigned int rows; /* number of functions shown; 0: 20 */
};

/* Writes text with aligned columns for a terminal: verdict, totals, ledger by origin, largest changes. */
COMMON_MUST_CHECK
bool render_text(const struct render_input *input, const struct render_text_options *options, struct buffer *out,
	struct error *err);

/* Writes JSON by schema kelvin.diff/1 (two sides) or kelvin.report/1 (one); docs/json.md. */
COMMON_MUST_CHECK
bool render_json(const struct render_input *input, struct buffer *out, struct error *err);

/* Writes Markdown for a pull request: at most 65,536 characters, a hidden marker first, the verdict next. */
COMMON_MUST_CHECK
bool render_markdown(const struct render_input *input, struct buffer *out, struct error *err);

struct render_svg_options {
	unsigned int width;     /* pixels; 0: 1200 */
	unsigned int max_depth; /* rows; 0: all */
};

/* Writes a static flame graph for READMEs and mail: no script, `<title>` elements for hovering. */
COMMON_MUST_CHECK
bool render_svg(const struct render_input *input, const struct render_svg_options *options, struct buffer *out,
	struct error *err);

/* Writes one self-contained page (docs/report.md): no network, strict Content-Security-Policy, opens from file://. */
COMMON_MUST_CHECK
bool render_html(const struct render_input *input, struct buffer *out, struct error *err);
