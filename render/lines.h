/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

/* The parts of a listing that text, JSON and Markdown show: functions line by line (diff/listing/listing.h). */

/* Returns whether somebody asked for functions by name. */
bool lines_are_asked(const struct render_input *input);

/*
 * Appends where the text of a side is from, and with what proof: "kept by the recording, its MD5 is the build's". Not
 * cleaned.
 */
void lines_append_place(const struct render_input *input, const struct listing_function *listed, enum diff_side side,
	struct buffer *out);

/* Returns whether a time may be a line too far, as samples of a side have no precise addresses; and the sentence. */
bool lines_are_imprecise(const struct render_input *input);
extern const char lines_imprecise_words[];

/* Appends how many functions are named beyond those that are listed, as a sentence; nothing if there are none. */
void lines_append_left_out(const struct render_input *input, struct buffer *out);

/* Returns the mark of a row that is proven to differ: "▲", "▼"; "" of others. */
const char *lines_mark(const struct listing_row *row);

/* A line of a row as it is written below the other: a row whose texts differ is two. */
struct lines_part {
	const struct listing_row *row;
	bool has[DIFF_SIDES]; /* whose number and time it has */
	char sign;            /* ' ', '-' or '+' */
	bool has_change;      /* it has the row's difference */
};

/* Returns the lines that a row is written as: 1 or 2. */
size_t lines_split(const struct diff *diff, const struct listing_row *row, struct lines_part parts[DIFF_SIDES]);

/* Returns the text of such a line; "". */
const char *lines_part_text(const struct listing *listing, const struct lines_part *part);

/*
 * Appends source text for people, cleaned, with tabs as columns, and at most `width` columns of it, the last of which
 * is a mark where it is cut.
 */
void lines_append_source(struct buffer *out, const char *text, size_t width);

/*
 * Fills `found` with the listed functions whose own time is proven to differ and that have text and proven rows, the
 * largest difference first; before these the one that the verdict names. Returns their number.
 */
size_t lines_proven(const struct render_input *input, const struct listing_function **found, size_t most);

/* Writers of each form. */
struct document;

/* Writes the functions that somebody asked for. */
void lines_text(struct document *w);

/* Appends the member `lines` of a document. */
void lines_json(const struct render_input *input, struct buffer *out);

/* Writes the lines of the proven functions as fenced diffs. */
void lines_markdown(struct document *d);
