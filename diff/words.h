/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Parts of sentences about a comparison. The verdict, the scale and the warnings share them. */

/* From this factor on a change is written as a factor, since large percentages are hard to read. */
static const double words_most_in_percent = 2;

/* Returns "CPU time", or the metric's own name. */
const char *words_metric(const struct diff *diff);

/*
 * Returns what a program or function does with the metric: "takes" in "head takes 12 % more CPU time"; "waits", "is
 * idle"; "executes" instructions.
 */
const char *words_verb(const struct diff *diff);

/*
 * Returns the basis of comparison, as appended to the metric: " per run", " at a guessed load", " per second". "" for
 * shares.
 */
const char *words_scale(enum diff_scale_mode mode);

/* Room for a change in words. */
enum { WORDS_CHANGE = 240 };

/*
 * Returns whether both values are equal as far as they can be told: exact counts to half a count, or the last digits of
 * a double; others to what words can show.
 */
bool words_equal(const struct diff *diff, const struct diff_estimate *estimate);

/* Room for a percentage in words. */
enum { WORDS_PERCENT = 32 };

/* Writes a nonnegative percentage: "12.3 %"; of exact counts with three digits, however small it is: "0.0104 %". */
void words_percent(const struct diff *diff, double percent, char out[WORDS_PERCENT]);

/*
 * Writes "12.3 % more CPU time per run (95 % interval 9.8 to 14.9 %)"; "8.76 times as much CPU time" from twice as much
 * on. An interval from less to twice as much or more is written as "75.0 % less to 3.28 times". If the interval does
 * not contain 0 and the change is not proven, the reason is added. Of waiting time: "12.3 % longer per run", "8.76
 * times as long per run". Of exact counts: "0.0104 % more instructions (exact)".
 */
void words_change(const struct diff *diff, const struct diff_estimate *estimate, char out[WORDS_CHANGE]);

/*
 * Does what words_change() does for two values that another factor scales, without an interval: "2.47 times as much".
 */
void words_ratio(const struct diff *diff, double base, double head, char out[WORDS_CHANGE]);

/*
 * Appends a function's name for use in a sentence, between backticks, shortened to `columns` and cleaned; one without a
 * name of its own has its place: "`(anonymous)` in server.js:12".
 */
void words_append_short_name(
	const struct diff *diff, const struct diff_function *function, size_t columns, struct buffer *out);

/* Does the same; the name of a Python function with its file: "`S.run` in w.py". */
void words_append_name(
	const struct diff *diff, const struct diff_function *function, size_t columns, struct buffer *out);

/* Does what words_append_name() does at full length. Initialises `out`, which the caller frees. */
void words_name(const struct diff *diff, const struct diff_function *function, struct buffer *out);
