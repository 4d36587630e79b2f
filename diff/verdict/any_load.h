/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/verdict/proven.h"
#include "diff/verdict/sentences.h"

/*
 * The words of verdicts where nobody counted the work of both sides, so that head's load is not known
 * (diff_load_is_open()). Where it is not known for how long a side was recorded either, nothing is said of the total.
 */

enum { ANY_LOAD_REST = SENTENCE_TOTAL + 320 };

enum { ANY_LOAD_WORDS = 120 };

/* Writes ", unless the load rose 26-fold", behind a total that is proven to differ. */
void any_load_condition(const struct diff *diff, char out[static ANY_LOAD_WORDS]);

/*
 * Writes the words about the total that follow a proven function; none where totals cannot be compared. Where the load
 * was guessed by functions that disagree, they say so.
 */
void any_load_about_total(const struct diff_build *build, char out[static ANY_LOAD_REST]);

/* Says that too little is proven, what would hold if the load was the same, and how to find out: DIFF_INCONCLUSIVE. */
void any_load_say_unproven(struct diff_build *build, const struct proven *proven);
