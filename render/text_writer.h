/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/summary.h"
#include "render/waits.h"

/* Functions that text of one profile (text.c), of two (text_diff.c) and of suites (suite_text.c) share. */
struct text_writer {
	const struct render_input *input;
	const struct diff *diff;
	const struct waits *waits; /* NULL: there are none */
	const char *unit;
	size_t width, rows;
	size_t half; /* rows of a list where there are two */
	bool colour, is_whole;
	struct buffer *out; /* its failure is sticky */
};

/* Returns a writer of no diff yet; options NULL: the defaults. */
struct text_writer text_writer_make(const struct render_text_options *options, struct buffer *out);

/* Has the writer write of a diff, without its waits. */
void text_writer_take(struct text_writer *w, const struct render_input *input);

/* Appends the text as one line that is wrapped (common/wrap.h). */
void text_paragraph(const struct text_writer *w, const char *text, size_t indent);
void text_sentences(const struct text_writer *w, void (*say)(const struct diff *, struct buffer *));
void text_heading(const struct text_writer *w, const char *text);
/* Appends aligned lines, cleaned. */
void text_lines(const struct text_writer *w, const char *text);
/* Explains a mark in a list. */
void text_mark(const struct text_writer *w, const char *mark, const char *words);
void text_list_heading(const struct text_writer *w, enum summary_order order);

/* Returns the id of a function in lists, "" if nobody asks for it: `id` is filled with it. */
const char *text_id(const struct text_writer *w, const struct diff_function *function, char *id);

/* Appends which part of everything it is of; nothing if it is of all. */
void text_question(const struct text_writer *w);

/* Appends what the report is of, if it is known. */
void text_title(const struct text_writer *w);

/* Appends which recording a side is, and its quality. */
void text_side(const struct text_writer *w, enum diff_side side, const char *label);

/* Appends a list of warnings under its heading; nothing if there are none. */
COMMON_MUST_CHECK
bool text_warnings(const struct text_writer *w, const struct string_table *strings, const struct diff_warning *warnings,
	size_t count, struct error *err);

/* Appends the functions of one profile in an order of one side. */
COMMON_MUST_CHECK
bool text_top(const struct text_writer *w, enum summary_order order, struct error *err);

/* Appends what the threads of a side waited for, in one line; nothing if it has no waits. */
void text_waits(const struct text_writer *w, enum diff_side side, const char *label);

/* Appends the functions of one profile where its threads wait, and who ended their waits. */
COMMON_MUST_CHECK
bool text_waiting_functions(const struct text_writer *w, struct error *err);

/* Appends the named locks that threads of two profiles waited for most. */
COMMON_MUST_CHECK
bool text_waiting_changes(const struct text_writer *w, struct error *err);

/* The verdict on two profiles, and whether a limit is exceeded. */
void text_verdict(const struct text_writer *w);

/* Writes the verdict, the ledger and the changes. */
COMMON_MUST_CHECK
bool text_two_sided(const struct text_writer *w, struct error *err);

/* Appends which commits can be the cause, if somebody asked. */
void text_commits(const struct text_writer *w);
