/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

/* The words of requests, which text, Markdown and the page share. The name of a work event is not cleaned. */

/* Returns whether a side says how much work its program did, or that it called out. */
bool render_has_requests(const struct diff *diff, enum diff_side side);

/*
 * Appends what two sides did, in whole sentences: "4,000 requests a second before, 3,990 after; p50 17.0 → 103 ms, p99
 * 41.0 → 290 ms. Calls out: ...". Nothing if neither side counted any.
 */
void render_requests_words(const struct diff *diff, struct buffer *out);

/*
 * Appends what a single profile's program did: "Requests: 40,001 answered, 4,000 a second; half within 210 µs, 90 %
 * within 400 µs, 99 % within 1.90 ms. Calls out: ...". Nothing if none were counted.
 */
void render_requests_report_words(const struct diff *diff, struct buffer *out);
