/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/format.h"
#include "render/history.h"

/* Choices and words that outputs of a history share. Nothing is estimated here: figures come from the history. */

/* The context that words of a series need. All is borrowed from the history. */
struct history_words {
	const struct history *history;
	const struct history_series *series;
	const char *unit;           /* of the metric */
	bool is_per;                /* values are per request or per run, and not only parts of a total */
	bool has_year, has_seconds; /* which parts of a time tell the profiles of the series apart */
};

/* The most bytes of a sentence, and of a command. */
enum { HISTORY_MAX_TEXT_BYTES = 1 << 20 };

struct history_words history_words_of(const struct history *history, const struct history_series *series);

/* Returns the summary of a profile of the series. */
const struct summary *history_words_profile(const struct history_words *w, size_t index);

/* Returns when a profile was recorded, in UTC: "18 Nov 14:02"; "profile 17" (from 1) if it is not known. */
struct format_text history_words_time(const struct history_words *w, size_t index);

/* Its day: "18 Nov". */
struct format_text history_words_day(const struct history_words *w, size_t index);

/* Returns a time for programs, in UTC: "2026-11-18T14:02:00.000Z"; "" if it is not known. */
struct format_text history_words_stamp(int64_t unix_ns);

/* Returns the name as people read it; "(total)" of the total. Not cleaned. */
const char *history_words_name(const struct history_words *w, uint32_t function);

/* Appends the meaning of a history's value: "CPU time per request", "% of the CPU time". */
void history_words_measure(const struct history_words *w, struct buffer *out);

/* Returns a value of a history in the metric's unit, of one request or run. */
double history_words_per(const struct history_words *w, uint32_t function, double value);

/* Returns a value in words, in the unit of history_change.before: "23.1 µs", or "1.90 %" where nothing is counted. */
struct format_text history_words_value(const struct history_words *w, uint32_t function, double value);

/*
 * Returns the values before, behind the point and in the last profiles, of a change that is gone again: "24.1 → 41.5 →
 * 24.1 µs".
 */
struct format_text history_words_course(const struct history_words *w, const struct history_change *change);

/* Returns the values before and after: "23.1 → 49.8 µs", "980 µs → 1.21 ms", "1.90 → 4.10 %". */
struct format_text history_words_values(const struct history_words *w, uint32_t function, double before, double after);

/* Returns the change in points of the series' total, of the total itself in percent: "+2.20", "+28.1 %". */
struct format_text history_words_delta(const struct history_change *change);

/* Its 95 % interval in the same unit: "1.90 to 2.50", "25.0 to 31.2 %"; "" if there is none. */
struct format_text history_words_interval(const struct history_change *change);

/* Which time of the function changed: "self", "total"; "" of the total itself. */
const char *history_words_time_kind(const struct history_change *change);

/*
 * Returns "5 of 6, q 0.0001": how many profiles behind the point lie beyond all of those before it; "" if nothing is
 * known.
 */
struct format_text history_words_evidence(const struct history_change *change);

/* Returns "0.004", "<0.0001"; "" if it is not known. */
struct format_text history_words_q(double q);

/* Returns what is known of the code at the change: "changed", "same", "new", "gone"; "" if nothing is. */
const char *history_words_code(const struct history_change *change);

/* Returns whether the function costs more behind the point. */
bool history_words_is_more(const struct history_change *change);

/* The changes that are shown: open or gone again, without cost that moved only. */
bool history_words_is_open(const struct history_change *change);
bool history_words_has_gone(const struct history_change *change);

struct history_words_count {
	size_t more, less, went, moved; /* `more` and `less` are open */
};
struct history_words_count history_words_count(const struct history_series *series);

/* Returns the open change that is the largest part of the usual total; NULL: none is open. */
const struct history_change *history_words_largest(const struct history_series *series);

/* Returns whether a change is open that began at a point. */
bool history_words_has_open(const struct history_series *series, size_t point);

/* Returns the title of the series, or "(no title)". Not cleaned. */
const char *history_words_title(const struct history_words *w);

/* Returns the fact that changed at a point, in words; "deploy", or "" if none is known. Not cleaned. */
const char *history_words_fact(const struct history_words *w, const struct history_change *change);

/* Appends of which profiles the series is, and when and where they were recorded. Not cleaned. */
void history_words_facts(const struct history_words *w, struct buffer *out);

/* Appends what the columns of changes mean. */
void history_words_of_changes(const struct history_words *w, struct buffer *out);

/*
 * Appends the answer: "checkout: 3 changes are open: 2 cost more, 1 costs less; 1 came and went. The largest: …". Not
 * cleaned.
 */
void history_words_verdict(const struct history_words *w, struct buffer *out);

/*
 * Appends what names a side of a pair on the command line: "a.pb.gz,b.pb.gz", quoted for a shell where that is needed.
 * Not cleaned.
 */
void history_words_side(
	const struct render_history *input, const struct history_pair *pair, enum diff_side side, struct buffer *out);

/* Appends the command that compares a pair: "kelvin diff a.pb.gz,b.pb.gz c.pb.gz -o 2026-11-18-1402.html". Not cleaned.
 */
void history_words_command(
	const struct history_words *w, const struct render_history *input, size_t point, struct buffer *out);

/* The id of a function, as diffs have it (render/question.h). */
void history_words_id(const struct summary_set *set, const struct summary_function *function,
	char id[static PROFILE_FUNCTION_ID_DIGITS + 1]);
