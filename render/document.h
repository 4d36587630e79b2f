/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"
#include "render/table.h"

/*
 * What people read of a report, a comparison, a suite or a history, built block by block: headings, sentences, items,
 * tables, parts that unfold. A block is written when it is complete, as text for a terminal (document_text.c) or as
 * Markdown for a comment of a pull request (document_markdown.c); both show the same words in the same order but where
 * a builder asks for the form.
 *
 * Hosts of comments accept 65,536 characters; bytes are counted, which are never fewer. A block or a row that would
 * exceed the limit ends a comment, with a remark.
 */
enum { DOCUMENT_MAX_BYTES = 65536 };

struct document {
	enum document_form form;
	const struct render_input *input; /* of the report that is written; NULL: none */
	const struct diff *diff;
	const struct waits *waits; /* NULL: there are none */
	const char *unit;
	size_t rows, half;     /* rows of a list, and of each list where there are several */
	struct buffer words;   /* owned: what is said of the next block */
	struct buffer *out;    /* its failure is sticky */
	size_t width;          /* text: columns */
	bool colour, is_whole; /* text */
	size_t start,
		end; /* Markdown: offset in `out` at which it starts; bytes that tables and items may fill by now */
	bool full, left_out; /* Markdown: a part did not fit, and nothing follows; one did not fit before `end` */
};

/* Returns a document without a block. options NULL: the defaults. */
struct document document_text(const struct render_text_options *options, struct buffer *out);
/* Its first line is a comment with the marker, by which it is found again to be replaced. */
struct document document_markdown(const char *marker, struct buffer *out);
/* Ends the document. False: it is not whole. */
COMMON_MUST_CHECK
bool document_finish(struct document *d, struct error *err);
void document_deinit(struct document *d);

static inline bool document_is_text(const struct document *d)
{
	return d->form == DOCUMENT_TEXT;
}

/* Has the document be about a diff, without its waits. */
void document_take(struct document *d, const struct render_input *input);

/*
 * Words are plain text with marks in them: what stands between NAME and END is the name of a function, which is
 * shortened, between CODE and END other code; what stands between two BOLD is bold; BREAK is a line break in a cell. In
 * Markdown pairs of backticks make code as well. All else is escaped or cleaned, so words may come from any file.
 */
#define DOCUMENT_NAME "\2"
#define DOCUMENT_END "\3"
#define DOCUMENT_BOLD "\4"
#define DOCUMENT_CODE "\5"
#define DOCUMENT_BREAK "\6"

/* Appends a name of a function to words. */
void document_name(struct buffer *words, const char *name);

enum document_block {
	DOCUMENT_VERDICT,
	DOCUMENT_HEADING,
	DOCUMENT_PARAGRAPH,
	DOCUMENT_NOTE,     /* a paragraph about the table before it; it may begin with a mark that cells have: "* " */
	DOCUMENT_ITEM,     /* of a list, which ends with a gap */
	DOCUMENT_NUMBERED, /* likewise: its words begin with a number */
	DOCUMENT_INDENTED, /* of text alone: a line below the heading of lines */
	DOCUMENT_SIDE,     /* likewise: which recording is compared */
	DOCUMENT_MORE,     /* how many rows or items a list leaves out */
	DOCUMENT_GAP,      /* an empty line in Markdown, behind a list */
	DOCUMENT_FOLD,     /* begins what Markdown folds, under these words */
	DOCUMENT_FOLD_END,
};

/* Appends `words` to those said before, and writes a block of them; nothing if there are none. */
void document_put(struct document *d, enum document_block block, const char *words);

/* Returns a table of columns, which are an array; its cells are words. */
#define DOCUMENT_TABLE(d, titled)                                                                                      \
	((struct table){ .form = (d)->form, .columns = (titled), .column_count = sizeof(titled) / sizeof((titled)[0]) })

/* Writes a table, if it has rows, under a heading of what was said before, if anything was. Returns the rows that had
 * room: the first ones. */
size_t document_table(struct document *d, const struct table *table);

/* Writes cleaned lines as a block of code in a language. Of Markdown alone. */
void document_code(struct document *d, const char *language, const char *lines);

/* ---- Emitters ---- */

void document_text_put(struct document *d, enum document_block block, const char *words);
void document_markdown_put(struct document *d, enum document_block block, const char *words);
size_t document_markdown_table(struct document *d, const struct table *table);
void document_markdown_remark(struct document *d);

/* Appends words as text has them, without their marks. Not cleaned. */
void document_text_words(struct buffer *out, const char *words);
