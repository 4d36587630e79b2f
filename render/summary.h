/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

/* What text, Markdown, JSON and SVG choose and say alike. Nothing is estimated here: figures come from the diff. */

/* What interrupts threads, as a row beside the ledger; and what is said below it. */
struct diff_estimate summary_interrupts(const struct diff *diff);
extern const char summary_interrupts_title[], summary_interrupts_words[];

/* The denominator of points: the greater of the two scaled totals. */
double summary_points_of(const struct diff *diff);

/* A difference in points of the total. */
double summary_points(const struct diff *diff, double delta);

/* In percent of base; NAN when base has none. */
double summary_percent_of_base(const struct diff_estimate *estimate);

bool summary_proven(enum diff_state state);

/* A proven difference of a function whose code did not change: what changed is where it was placed, or what it was
 * given to do. */
bool summary_same_code(const struct diff_function *function, enum diff_state state);

/* Functions by id, greatest first. */
struct summary_list {
	uint32_t *ids; /* owned */
	size_t count;
	size_t proven_left_out; /* proven ones for which there was no room */
};

void summary_list_deinit(struct summary_list *list);

enum summary_order {
	SUMMARY_SELF_INCREASES, /* proven first, then by size; unproven ones only where room is left in the first few
				   rows */
	SUMMARY_SELF_DECREASES,
	SUMMARY_TOTAL_CHANGES, /* proven only */
	SUMMARY_MOVED,         /* moved or renamed: the end that has the values */
	SUMMARY_SELF,          /* one side: by self value */
	SUMMARY_TOTAL,         /* one side: by total value */
};

COMMON_MUST_CHECK
bool summary_list(
	const struct diff *diff, enum summary_order order, size_t limit, struct summary_list *list, struct error *err);

/* "Regressed" */
const char *summary_verdict_word(enum diff_verdict verdict);

/* Whole sentences with their full stop, from the diff's phrases. Nothing is appended where there is nothing to say. */
void summary_verdict(const struct diff *diff, struct buffer *out);
void summary_scale(const struct diff *diff, struct buffer *out);
void summary_evidence(const struct diff *diff, struct buffer *out);

/* A difference that its own 95 % interval tells from 0, but the test over all functions does not prove. */
bool summary_short_of_proof(const struct diff_estimate *estimate);
extern const char summary_short_of_proof_words[];

/* Of summary_same_code(). */
extern const char summary_same_code_words[];

/* How many samples; counted where the file does not say it; NAN where it cannot be told. */
double summary_samples(const struct profile *profile);
/* Whether anybody counted what was lost and how stacks ended: files of other tools do not tell. */
bool summary_quality_recorded(const struct profile *profile);
/* NAN where stacks were not unwound from dumps: a chain of frame pointers tells neither what it left out nor whether it
 * is whole.
 */
double summary_whole_percent(const struct profile *profile);

/* "1,203 samples in 10.0 s, 0 lost, 99.2 % whole stacks", as far as it was recorded */
void summary_quality(const struct profile *profile, struct buffer *out);

/* Behind `before`, how stacks and names compare with those of other libraries; nothing where nobody asked for it, and
 * of no profile. */
void summary_verified(const struct profile *profile, const char *before, struct buffer *out);

/* The recorded command, else the side's name, else "". Not cleaned. */
const char *summary_command(const struct render_input *input, enum diff_side side);

/* What the column "points" holds: "points: percentage points of total CPU time; ...". Not cleaned. */
void summary_points_words(const struct diff *diff, struct buffer *out);

/* What is measured, as people say it: "time", "page faults". Not cleaned. */
void summary_measure(const struct diff *diff, struct buffer *out);

/* Of a list: "More time in the function itself". Not cleaned. */
void summary_heading(const struct diff *diff, enum summary_order order, struct buffer *out);
