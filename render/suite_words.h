/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/format.h"
#include "render/suite.h"
#include "render/summary.h"

/* Choices and words that outputs of suites share. Nothing is estimated here: figures come from the suite. */

/* ---- Benchmarks ---- */

/* Returns the name as people say it. Not cleaned. */
const char *suite_words_name(const struct diff_suite *suite, const struct diff_benchmark *benchmark);

/* Returns the time of an iteration, or a total in the metric's unit: "12.3 µs". */
struct format_text suite_words_value(const struct diff_suite *suite, double value);

/* Head against base: "+12.3 %"; "" if not both have the benchmark. */
struct format_text suite_words_change(const struct diff_benchmark *benchmark);

/*
 * Returns the 95 % interval of the change: "9.0 to 15.0 %", "6.69 to 22.6×"; "" if there is none, as of exact counts.
 */
struct format_text suite_words_interval(const struct diff_suite *suite, const struct diff_benchmark *benchmark);

/* Returns whether a change is not proven although its own interval excludes 0, and what that means. */
bool suite_words_short_of_proof(const struct diff_benchmark *benchmark);
extern const char suite_words_of_short_proof[];

/* Returns whether the verdict is one that a reader looks for: anything but unchanged. */
bool suite_words_is_notable(const struct diff_benchmark *benchmark);

/*
 * Appends the relative standard deviation of an iteration's time between the rounds of one execution, as the harness
 * measured it, in percent: the root of the mean square over the executions. [benchmark]; NAN: it is not known.
 * `*spreads` is the caller's.
 */
void suite_words_spreads(const struct diff_suite *suite, enum diff_side side, double **spreads);

/* ---- Sentences ---- */

/* Appends "Regressed: 2 of 48 benchmarks are slower: …." Not cleaned. */
void suite_words_verdict(const struct diff_suite *suite, struct buffer *out);

/* Appends what the values are, and what the verdicts rest on. */
void suite_words_evidence(const struct diff_suite *suite, struct buffer *out);

/* Benchmarks that have no room in a list: "2 inconclusive, 42 unchanged", without a full stop. */
struct suite_words_rest {
	size_t verdicts[DIFF_VERDICT_COUNT], added, removed;
};
void suite_words_rest_add(struct suite_words_rest *rest, const struct diff_benchmark *benchmark);
size_t suite_words_rest_count(const struct suite_words_rest *rest);
void suite_words_rest(const struct suite_words_rest *rest, struct buffer *out);

/* ---- What explains a benchmark ---- */

/*
 * Lists functions of a part by falling difference of their self values: those that are proven to have changed or, if
 * none is, the one that explains the change with all that it calls, if there is one, and the largest other ones. Of one
 * side: by self value. `list` is the caller's to release with summary_list_deinit().
 */
void suite_words_functions(
	const struct render_suite *input, const struct render_part *part, size_t limit, struct summary_list *list);

/* Returns the function that explains the change of a part's benchmark; PROFILE_NONE: none does, or there is no part. */
uint32_t suite_words_because(const struct render_suite *input, const struct render_part *part);

/* Appends where a function's change is: "json.py:41"; without lines its module. Not cleaned. */
void suite_words_place(const struct render_part *part, uint32_t function, struct buffer *out);

/* Returns whether there is something to say of a benchmark that no place explains. */
bool suite_words_has_remark(const struct diff_suite *suite, const struct diff_benchmark *benchmark);

/* Appends it: "no changed code ran here; about 14 more executions would decide this". */
void suite_words_remark(const struct diff_suite *suite, const struct diff_benchmark *benchmark, struct buffer *out);

/*
 * Makes `out` of the place of the function that explains a benchmark's change; if none does, of what else there is to
 * say of it, or nothing.
 */
void suite_words_where(const struct render_suite *input, uint32_t benchmark, struct buffer *out);

/*
 * Appends what changed in a function, as words of a document: "memchr (string.c:12), called from parse, takes 1.21
 * times as long: +3.10 µs per iteration". Of one side: "… takes 3.10 µs per iteration, 42.0 %". The caller is the
 * user's function that one of a library or of the system works for: the innermost one on the stacks that have most of
 * its change, or of its value where there is one side.
 */
void suite_words_function(
	const struct render_suite *input, const struct render_part *part, uint32_t function, struct buffer *words);
