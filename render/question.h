/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"
#include "render/report.h"

/* The words of text, Markdown, JSON and the page for what is asked about. Nothing that is appended is cleaned. */

/* Appends "stacks with a function like 'parse', only user code"; nothing if all is shown. */
void question_words(const struct render_input *input, struct buffer *out);

/*
 * Appends how much of everything the part is, in sentences: "Stacks with a function like 'parse' are 34.0 % of base and
 * 41.2 % of head." Nothing if all is shown.
 */
void question_sentences(const struct render_input *input, struct buffer *out);

/* Appends what the report is of (summary_title()), and which part. */
void question_title(const struct render_input *input, struct buffer *out);

/* Returns the time of the part in percent of everything on a side; NAN if all is shown. */
double question_percent(const struct render_input *input, enum diff_side side);

/* Writes the id of a function, to ask on with. */
void question_id(
	const struct diff *diff, const struct diff_function *function, char id[static PROFILE_FUNCTION_ID_DIGITS + 1]);

/* Does the same for its key; `interrupt`: the key is that of its time in interrupts. */
void question_id_of_key(const char *key, bool interrupt, char id[static PROFILE_FUNCTION_ID_DIGITS + 1]);

/* Rows of a list, which has `usual` where nobody asks for a number. */
size_t question_rows(const struct render_input *input, size_t usual);

/* A list of callers, or of callees, if it is asked for, with its heading and its rows. */
struct question_list {
	bool is_callees;
	const char *heading;                          /* "What calls it" */
	const char *nobody;                           /* in place of a function: "(a thread begins with it)" */
	const char *json;                             /* "callers" */
	const struct diff_neighbour_list *neighbours; /* NULL: it is not asked for */
};
enum { QUESTION_LISTS = 2 };
void question_lists(const struct render_input *input, struct question_list lists[static QUESTION_LISTS]);

/* Writes the lists, and in text the functions that are asked about before them. */
struct document;
void question_put(struct document *d);

/* Appends the members `selection`, `callers` and `callees` of JSON. */
void question_json(const struct render_input *input, struct buffer *out);
