/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

/*
 * What stands between the verdict of two profiles and the details, in text and Markdown alike, behind the requests
 * (render/requests.h): what else is proven, and what to do next. Appended texts are not cleaned.
 */

enum { HEADLINE_OTHERS = 3 };

/*
 * The functions with the largest proven differences of self time that the verdict's cause does not explain, the largest
 * first. Returns their number. ERROR_MEMORY.
 */
COMMON_MUST_CHECK
bool headline_others(
	const struct diff *diff, uint32_t others[static HEADLINE_OTHERS], size_t *count, struct error *err);

/* "Also proven:" */
const char *headline_others_words(const struct diff *diff);

/* Appends how a function of these differs, behind its name: " takes 3.1 % less: -60.0 ms, -0.60 points". */
void headline_other(const struct diff *diff, uint32_t function, struct buffer *out);

/* Appends the next step as one sentence with a command; nothing if there is none. */
void headline_next(const struct render_input *input, struct buffer *out);
