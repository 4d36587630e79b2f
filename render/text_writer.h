/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/summary.h"
#include "render/waits.h"

/* Functions that both kinds of text report share: of one profile (text.c) and of two (text_diff.c). */
struct text_writer {
	const struct render_input *input;
	const struct diff *diff;
	const struct waits *waits; /* NULL: there are none */
	const char *unit;
	size_t width, table_width, rows;
	bool colour;
	struct buffer *out; /* its failure is sticky */
};

/* Origins in the order of reports: the user's code, its libraries, the system. */
extern const enum profile_origin text_origins[PROFILE_ORIGIN_COUNT];

/*
 * Breaks the text at spaces; a word that is wider than a line has a line of its own. `indent` applies from the second
 * line on.
 */
void text_paragraph(const struct text_writer *w, const char *text, size_t indent);
void text_sentences(const struct text_writer *w, void (*say)(const struct diff *, struct buffer *));
void text_heading(const struct text_writer *w, const char *text);
/* Appends aligned lines, cleaned. */
void text_lines(const struct text_writer *w, const char *text);
void text_list_heading(const struct text_writer *w, enum summary_order order);

/* Appends what the report is of, if it is known. */
void text_title(const struct text_writer *w);

/* Appends which recording a side is, and its quality. */
void text_side(const struct text_writer *w, enum diff_side side, const char *label);

/* Appends what the threads of a side waited for, in one line; nothing if it has no waits. */
void text_waits(const struct text_writer *w, enum diff_side side, const char *label);

/* Appends the functions of one profile where its threads wait, and who ended their waits. */
COMMON_MUST_CHECK
bool text_waiting_places(const struct text_writer *w, struct error *err);

/* Appends the named locks that threads of two profiles waited for most. */
COMMON_MUST_CHECK
bool text_waiting_changes(const struct text_writer *w, struct error *err);

/* Verdict, ledger and changes. */
COMMON_MUST_CHECK
bool text_two_sided(const struct text_writer *w, struct error *err);
