/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

/*
 * Comments on a pull request: of two profiles (markdown.c) and of suites of benchmarks (suite_markdown.c). Hosts accept
 * 65,536 characters; this counts bytes, which are never fewer. A part that would exceed the limit ends the text, with a
 * remark.
 */
enum { MARKDOWN_MAX_BYTES = 65536, MARKDOWN_MAX_SENTENCE = 4096 };

/* The first line of a comment, by which it is found again to be replaced. */
extern const char markdown_marker[];

struct markdown_writer {
	const struct render_input *input; /* of the diff that is written; NULL: none */
	const struct diff *diff;
	const char *unit;
	struct buffer *out;
	size_t start; /* offset in `out` at which this document starts */
	bool full;    /* a part did not fit: nothing follows */
};

/*
 * Appends foreign text of at most about `max_bytes`. Special characters become character references, which neither
 * Markdown, HTML nor a host's mentions and automatic links interpret.
 */
void markdown_escape(struct buffer *out, const char *text, size_t max_bytes);

/* Appends the name of a function, shortened, as code. */
void markdown_name(struct buffer *out, const char *name);

/* Appends a part as a whole, if it fits. */
void markdown_emit(struct markdown_writer *w, const struct buffer *part);
void markdown_emit_string(struct markdown_writer *w, const char *text);

/* Appends foreign text between two strings of Markdown, if they fit as a whole. */
void markdown_emit_text(struct markdown_writer *w, const char *before, struct buffer *text, const char *after);

/* Appends a list of warnings under its heading; nothing if there are none. */
void markdown_warnings(struct markdown_writer *w, const struct string_table *strings,
	const struct diff_warning *warnings, size_t count);

/* Appends the remark that something did not fit, if that is so. */
void markdown_finish(struct markdown_writer *w);

/* Appends which commits can be the cause, if somebody asked. */
void markdown_commits(struct markdown_writer *w);
