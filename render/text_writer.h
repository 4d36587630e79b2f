/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/summary.h"

/* What both kinds of text report are made of: one profile (text.c), two of them (text_diff.c). */
struct text_writer {
	const struct render_input *input;
	const struct diff *diff;
	const char *unit;
	size_t width, table_width, rows;
	bool colour;
	struct buffer *out; /* fails when something could not be written */
};

/* The order in which a reader asks: my code, its libraries, the system. */
extern const enum profile_origin text_origins[PROFILE_ORIGIN_COUNT];

/* Breaks at spaces; a word that is wider than the line stands alone. `indent` is of the second line on. */
void text_paragraph(const struct text_writer *w, const char *text, size_t indent);
void text_sentences(const struct text_writer *w, void (*say)(const struct diff *, struct buffer *));
void text_heading(const struct text_writer *w, const char *text);
/* Lines that are aligned already, cleaned. */
void text_lines(const struct text_writer *w, const char *text);
void text_list_heading(const struct text_writer *w, enum summary_order order);

/* Which recording it is, and how well it was made. */
void text_side(const struct text_writer *w, enum diff_side side, const char *label);

/* Verdict, ledger and changes. */
COMMON_MUST_CHECK
bool text_two_sided(const struct text_writer *w, struct error *err);
