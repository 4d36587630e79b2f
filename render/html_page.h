/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"
#include "render/viewer_assets.h"

/* The parts of pages of one report (html.c), of suites (html.c) and of histories (history_html.c). */

enum { HTML_MAX_BLOCK_BYTES = 1 << 30, HTML_MAX_TITLE_BYTES = 1 << 20 };

/* The beginning of a page, and its text where no script runs. */
struct html_words {
	const struct viewer_assets *viewer;
	const char *title, *verdict;
	const char *suffix;  /* of the title */
	const char *picture; /* what needs a script */
};

void html_append_head(struct buffer *out, const struct html_words *words);

/*
 * The page to which blocks are appended. In pages of parts their ids begin with the number of the part that they belong
 * to.
 */
struct html_page {
	struct buffer *out;
	const char *prefix;
};

/* Appends a block of data, gzipped. */
COMMON_MUST_CHECK
bool html_append_bytes(const struct html_page *page, const char *id, struct buffer *block, struct error *err);

/* The reports that a page embeds, each as a part. */
struct html_parts {
	const void *of;
	const struct render_input *(*input)(const void *of, size_t number);
	size_t count;
	size_t max_page_bytes; /* 0: as usual */
};

/* Appends the blocks of all parts that have room; `left_out` ([part]) says of which there was none. */
COMMON_MUST_CHECK
bool html_append_parts(struct buffer *out, const struct html_parts *parts, bool *left_out, struct error *err);

/* Appends the script, and behind it the parts: each is read when somebody opens it. */
void html_append_end(struct buffer *out, const struct viewer_assets *viewer, const struct buffer *parts);
