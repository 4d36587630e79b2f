/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

/*
 * The headline, which stands between the verdict of two profiles and the details, in text and Markdown alike, behind
 * the requests (render/requests.h): what else is proven, and what to do next. Appended texts are not cleaned.
 */

enum { HEADLINE_OTHERS = 3 };

/*
 * Lists the largest changes that are counted and that the verdict does not tell, the largest first. Returns their
 * number.
 */
size_t headline_others(const struct diff *diff, const struct diff_change *others[static HEADLINE_OTHERS]);

/* Returns "Also proven:". */
const char *headline_others_words(const struct diff *diff);

/*
 * Appends how one of these differs, as words of a document: "lookup takes 3.1 % less: -60.0 ms, -0.60 points; waiting
 * for lock cache_lock, held by evict".
 */
void headline_other(const struct diff *diff, const struct diff_change *change, struct buffer *words);

/*
 * Appends the next step as one sentence with a command, which is about the same samples and frames; nothing if there is
 * none, or where a text cannot show how these were chosen.
 */
void headline_next(const struct render_input *input, struct buffer *out);
