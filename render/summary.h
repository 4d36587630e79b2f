/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/format.h"
#include "render/report.h"

/* Choices and words that text, Markdown, JSON and SVG share. Nothing is estimated here: figures come from the diff. */

/* Origins in the order of reports: the user's code, its libraries, the system. */
extern const enum profile_origin summary_origins[PROFILE_ORIGIN_COUNT];

/*
 * Returns an origin of the ledger, or time of interrupts and of run-time compilers beside it, as a row, and the
 * sentences below.
 */
struct diff_estimate summary_beside(const struct diff_origin *origin);
bool summary_has_beside(const struct diff_origin *origin);
extern const char summary_interrupts_title[], summary_interrupts_words[];
extern const char summary_compilation_title[], summary_compilation_words[];

/* Likewise of threads that could run and waited for a CPU, where that is the machine's (diff->run_queue). */
bool summary_has_run_queue(const struct diff *diff);
extern const char summary_run_queue_title[], summary_run_queue_words[];

/*
 * Appends `before` and "Of the machine's CPU time 62 % was in use in base and 100 % in head.", by whichever programs;
 * nothing if a recording does not tell.
 */
void summary_machine_words(const struct render_input *input, const char *before, struct buffer *out);

/* Returns whether functions have the time of an interpreter that runs them, and the sentence that says so. */
bool summary_has_interpreter(const struct diff *diff);
extern const char summary_interpreter_words[];

/* Returns a difference in points of the greater of the two scaled totals. */
double summary_points(const struct diff *diff, double delta);

/* Returns the change in percent of base; NAN if base is 0. */
double summary_percent_of_base(const struct diff_estimate *estimate);

/* Returns the interval of the difference in percent of base: "-5.0 to 12.3 %"; "" if base is 0, or there is none. */
struct format_text summary_interval_of_base(const struct diff_estimate *estimate);

bool summary_proven(enum diff_state state);

/*
 * Returns whether a difference is proven for a function whose code did not change: then its placement or its input
 * changed.
 */
bool summary_same_code(const struct diff_function *function, enum diff_state state);

/* Functions by id, the largest first. */
struct summary_list {
	uint32_t *ids; /* owned */
	size_t count;
	size_t proven_left_out; /* number of proven ones that did not fit */
};

void summary_list_deinit(struct summary_list *list);

enum summary_order {
	/* proven first, then by size; unproven ones only if there is room in the first few rows */
	SUMMARY_SELF_INCREASES,
	SUMMARY_SELF_DECREASES,
	/* the functions that name changes (diff.changes), if their total is proven; those that are of others come last
	 */
	SUMMARY_TOTAL_CHANGES,
	SUMMARY_MOVED, /* moved or renamed: the entry that has the values */
	SUMMARY_SELF,  /* one-sided: by self value */
	SUMMARY_TOTAL, /* one-sided: by total value; those of an interpreter come last */
};

void summary_list(const struct diff *diff, enum summary_order order, size_t limit, struct summary_list *list);

/* Returns "Regressed" */
const char *summary_verdict_word(enum diff_verdict verdict);

/* Appends whole sentences with their full stop, made of the diff's phrases. Nothing if there is nothing to say. */
void summary_verdict(const struct diff *diff, struct buffer *out);
void summary_scale(const struct diff *diff, struct buffer *out);
void summary_evidence(const struct diff *diff, struct buffer *out);

/* Returns whether a difference's own 95 % interval excludes 0, but the test over all functions does not prove it. */
bool summary_short_of_proof(const struct diff_estimate *estimate);
extern const char summary_short_of_proof_words[];

/* Explains the mark of summary_same_code() in lists of self and of total changes. */
void summary_same_code_self(const struct diff *diff, struct buffer *out);
void summary_same_code_total(const struct diff *diff, struct buffer *out);

/* Returns the number of samples; if the file does not say it, the events are counted; NAN if it is not known. */
double summary_samples(const struct profile *profile);
/* Returns whether the recording says what was lost and how stacks ended. Files of other tools do not. */
bool summary_quality_recorded(const struct profile *profile);
/*
 * NAN unless stacks were unwound from stack copies: a chain of frame pointers shows neither what it left out nor
 * whether it is whole.
 */
double summary_whole_percent(const struct profile *profile);

/* Appends "1,203 samples in 10.0 s, 0 lost, 99.2 % whole stacks", as far as it was recorded. */
void summary_quality(const struct profile *profile, struct buffer *out);
/* Appends the part of it that says how much was sampled, and, each behind the separator, how well. */
void summary_sampled(const struct profile *profile, struct buffer *out);
void summary_losses(const struct profile *profile, const char *separator, struct buffer *out);

/*
 * Appends `before`, then how stacks and names compare with those of other libraries. Nothing if the recording was not
 * verified or `profile` is NULL.
 */
void summary_verified(const struct profile *profile, const char *before, struct buffer *out);

/* Appends `before`, then the labels of a recording; nothing if it has none, or `profile` is NULL. Not cleaned. */
void summary_labels(const struct profile *profile, const char *before, struct buffer *out);

/*
 * Appends what the report is of: the title that was given, else which service in which versions: "checkout 4.2.1 →
 * 4.3.0". Nothing if neither is known. Not cleaned.
 */
void summary_title(const struct render_input *input, struct buffer *out);

/* Returns the recorded command, else the side's name, else "". Not cleaned. */
const char *summary_command(const struct render_input *input, enum diff_side side);

/* Appends the meaning of the column "points": "points: percentage points of total CPU time; ...". Not cleaned. */
void summary_points_words(const struct diff *diff, struct buffer *out);

/* Appends the metric in words: "time", "page faults". Not cleaned. */
void summary_measure(const struct diff *diff, struct buffer *out);

/* Appends the heading of a list: "More time in the function itself". Not cleaned. */
void summary_heading(const struct diff *diff, enum summary_order order, struct buffer *out);
