/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A comparison proves a difference by its runs, its samples or exact counts; its uncertainty has named sources. */

enum diff_evidence_mode {
	DIFF_EVIDENCE_NONE, /* one side only, or too little data: every state is `unproven` or `same` */
	DIFF_EVIDENCE_RUNS, /* the run is the unit of replication */
	/* one recording on each side: blocks of time are compared, with an assumed variation between processes */
	DIFF_EVIDENCE_SINGLE,
	DIFF_EVIDENCE_COUNTS, /* neither runs nor a timeline: only counts are compared */
	DIFF_EVIDENCE_EXACT,  /* nothing was sampled: noise is what runs of one program differ by (is_exact) */
};

/* Returns "none", "runs", "single", "counts", "exact". Static. */
const char *diff_evidence_mode_name(enum diff_evidence_mode mode);

/* The variance of the total's change has these sources (evidence_parts). */
enum diff_variance { DIFF_VARIANCE_COUNTING, DIFF_VARIANCE_STARTS, DIFF_VARIANCE_LOAD, DIFF_VARIANCE_SESSION };
enum { DIFF_VARIANCE_COUNT = 4 };

/* Returns "counting", "starts", "load", "session". Static. */
const char *diff_variance_name(enum diff_variance part);

struct diff_evidence {
	enum diff_evidence_mode mode;
	size_t runs[2]; /* [side] */
	double q;
	/*
	 * it is not known how many samples the values are made of: only differences between runs show chance (RUNS),
	 * else the mode is NONE
	 */
	bool uncounted;
	double variance[DIFF_VARIANCE_COUNT]; /* of the logarithm of the total's ratio; all 0: not known */
};

/* Returns the part that has most of the variance. */
static inline enum diff_variance diff_widest(const struct diff_evidence *evidence)
{
	enum diff_variance widest = DIFF_VARIANCE_COUNTING;

	for (int i = 1; i < DIFF_VARIANCE_COUNT; i++)
		if (evidence->variance[i] > evidence->variance[widest])
			widest = (enum diff_variance)i;
	return widest;
}
