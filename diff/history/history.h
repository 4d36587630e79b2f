/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/cache.h"
#include "diff/history/files.h"
#include "diff/history/gate.h"
#include "diff/history/view.h"
#include "diff/model.h"
#include "profile/profile.h"

/*
 * The history of a program: series of profiles over time, and where in them functions began to cost more or less, with
 * proof. docs/decisions/90-summaries.md and 124 tell why.
 *
 * - A series is of one thing: the same command or service, metric, event, frequency, CPU model and kind of machine.
 *   Others are series of their own.
 * - A point lies between two profiles that follow each other. At a *deploy* the program itself changed (its version,
 *   commit, image, or the build ids of its own binaries), which is a reason to expect a change there.
 * - Values are per request where all profiles of the series counted requests, per run where each is of whole commands,
 *   else relative to one factor of load for each profile, which functions that did not change show; then there is no
 *   test of the total.
 * - What is proven is what the model of evidence proves (diff/evidence/evidence.h), which weighs a point as the
 *   comparison of the profiles on both sides of it.
 */

/* Adds the summary of a profile to a set. ERROR_USAGE: it has no such metric; ERROR_EMPTY: no time in it. */
COMMON_MUST_CHECK
bool history_summarize(struct summary_set *set, const struct profile *profile, const struct summary_options *options,
	struct error *err);

#define HISTORY_WHOLE UINT32_MAX

struct history_options {
	double q;                 /* false discovery rate; 0: 0.05 */
	double min_effect_points; /* least change that matters, in points of the total; 0: 0.1 */
	int64_t period_ns;        /* profiles are compared with those at the same time of such a period; 0: with all */
};

/* The state of the program's code at a change. */
enum history_code {
	HISTORY_CODE_UNKNOWN,
	HISTORY_CODE_SAME,
	HISTORY_CODE_CHANGED,
	HISTORY_CODE_NEW,  /* the function was not there before */
	HISTORY_CODE_GONE, /* ... is not there behind it */
};
enum { HISTORY_CODE_COUNT = 5 };

/* Returns "unknown", "same", "changed", "new", "gone". Static. */
const char *history_code_name(enum history_code code);

struct history_point {
	size_t at; /* the first profile behind it: an index in the series */
	bool is_deploy;
	/*
	 * string: the first fact that changed there, in words: "version 41 → 42", "libssl.so 3.0.11 → 3.0.15", "kernel
	 * 6.1.0 → 6.1.9"; "": none is known
	 */
	uint32_t fact;
};

struct history_change {
	uint32_t function; /* of the set; HISTORY_WHOLE: the total */
	bool is_self;      /* its self time; else its time with all that it calls */
	size_t point;
	size_t went; /* the point where it was gone again; SIZE_MAX: it is open, the last profiles still have it */
	/*
	 * Values of a function in percent of the series' typical total, of the total in the scaled unit. `before` and
	 * `after` are means of the segments on both sides of the point; `last` is that of the last segment.
	 */
	double before, after, last;
	double delta, ci_low, ci_high; /* 95 % interval of after - before */
	double q;
	size_t agree, of; /* profiles behind the point that lie on their side of all the others', of how many */
	enum history_code code;
	bool has_moved; /* cost that other functions lost at the same point: no change (history_explain()) */
};

/* A value that drifts, instead of changing at a point: it is told of and is no change. */
struct history_drift {
	uint32_t function;
	double first, last; /* as before and after */
	double q;
};

struct history_series {
	uint32_t title;   /* string: what it is of: "checkout on api-1" */
	uint32_t facts;   /* string: "cpu-clock, 997 Hz, AMD EPYC 7763" */
	size_t *profiles; /* owned; [index in the series] which summary of the set, in order of time */
	size_t count;
	enum diff_scale_mode scale;   /* PER_REQUEST, PER_RUN or ROBUST */
	double sample_value;          /* what a sample is worth in the metric's unit */
	double *work;                 /* owned; [index] requests or runs; of ROBUST samples, by which shares are told */
	double *common;               /* owned; [index] the logarithm of what all functions take more there */
	double *factor;               /* owned; [index] values times this are comparable with each other */
	double typical_total;         /* scaled; points are percent of it */
	struct history_point *points; /* owned; in order of time; also those without a change */
	struct history_change *changes; /* owned; open ones first, the latest point first, then by falling |delta| */
	struct history_drift *drifts;   /* owned */
	size_t point_count, change_count, drift_count;
	uint32_t *notices; /* owned; strings: what limits the series, a sentence each */
	size_t notice_count;
};

struct history {
	const struct summary_set *set; /* borrowed */
	struct string_table *strings;  /* owned: those of the history; those of functions and profiles are the set's */
	int64_t period_ns;             /* as history_options has it */
	double q;                      /* as history_options has it, and never 0 */
	struct history_series *series; /* owned; the longest first */
	size_t series_count;
	uint32_t *notices; /* owned; strings: of profiles that are in no series, and why */
	size_t notice_count;
};

COMMON_MUST_CHECK
bool history_create(const struct summary_set *set, const struct history_options *options, struct history **history,
	struct error *err);
void history_destroy(struct history *history);

static inline void history_cleanup(struct history **history)
{
	history_destroy(*history);
}

static inline const char *history_string(const struct history *history, uint32_t id)
{
	return string_table_get(history->strings, id);
}

/*
 * Writes the values of a function in each profile of a series, in the unit of history_change.before, to values[count].
 */
void history_values(const struct history *history, const struct history_series *series, uint32_t function, bool is_self,
	double *values);

/* ---- The pair of profiles that explains a point ---- */

enum { HISTORY_PAIR_PROFILES = 10 };

/* The profiles of the segments on both sides of a point that lie nearest to it, in order of time: summaries. */
struct history_pair {
	size_t series, point;
	size_t profiles[DIFF_SIDES][HISTORY_PAIR_PROFILES];
	size_t count[DIFF_SIDES];
};

struct history_pair history_pair_of(const struct history *history, size_t series, size_t point);

/*
 * Takes over what only stacks tell of a point, from the diff of its pair (each profile a run): cost that moved is no
 * change, and functions of one chain of calls, whose change is one and the same, are listed once, as the diff has it.
 */
COMMON_MUST_CHECK
bool history_explain(
	struct history *history, const struct history_pair *pair, const struct diff *diff, struct error *err);

/*
 * Does the same in two steps, for whoever keeps what a diff found: history_find() appends it as bytes, which are
 * foreign where history_apply() takes them over. ERROR_FORMAT: they are damaged, and nothing was changed.
 */
COMMON_MUST_CHECK
bool history_find(const struct diff *diff, struct buffer *out, struct error *err);
COMMON_MUST_CHECK
bool history_apply(
	struct history *history, const struct history_pair *pair, const void *bytes, size_t size, struct error *err);

/* A point that is shown by the diff of its pair (view.h). */
struct history_view_part {
	struct history_pair pair;
	struct profile *profiles[DIFF_SIDES]; /* owned */
	struct diff *diff;                    /* owned */
};
