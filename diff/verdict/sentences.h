/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/cause.h"

/* The sentences of verdicts that rest on proven differences of sampled values; exact counts have their own (exact.h).
 */

/* Makes a text the verdict's. */
COMMON_MUST_CHECK
bool sentence_set(struct diff *diff, struct buffer *text, struct error *err);

/*
 * Says why the total is proven to differ, and by how much: "`resolve` → `contains` takes 10.1 times as much: +31 ms per
 * request, 68 % of the increase, most of it in `memcmp` below it; the program takes 2.15 times as much CPU time per
 * request (95 % interval 2.05 to 2.26 times)". `condition` follows the interval. Fills verdict_text, and of waits
 * named_wait.
 */
COMMON_MUST_CHECK
bool sentence_of_total(struct diff_build *build, const struct cause *cause, const char *condition, struct error *err);

/*
 * Says what is proven of functions in a direction where the total does not decide, the cause first: "`contains` takes
 * 3.90 times as much CPU time per request (95 % interval 3.1 to 4.9 times), +31 ms per request, 34.0 % of all CPU time
 * after 12.0 % in base", and `rest`.
 */
COMMON_MUST_CHECK
bool sentence_of_functions(struct diff_build *build, const struct cause *cause, const struct proven *proven,
	const char *rest, struct error *err);

/*
 * The largest proven difference, then how many there are: "`parse` takes 2.10 times as much: +31 ms per run; 3 proven
 * increases (4.1 % of the total) and 2 decreases (3.9 %)", and `rest`.
 */
COMMON_MUST_CHECK
bool sentence_of_counts(struct diff_build *build, const struct proven *proven, const char *rest, struct error *err);

/* Room for what sentence_about_total() writes. */
enum { SENTENCE_TOTAL = 320 };

/*
 * Writes the clause about a total that did not decide: "; the total's change is not proven: 3.0 % more CPU time per run
 * (95 % interval -5.0 to 12.0 %)". Of shares, whose total is always the same, "".
 */
void sentence_about_total(const struct diff *diff, char out[static SENTENCE_TOTAL]);
