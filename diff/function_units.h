/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The values of each function of one profile in each unit of replication, as comparisons have them: with their rules
 * for interpreters, interrupts and waits, and by the same sums. For whoever compares a profile with many others later,
 * and keeps no more of it than these (profile/summary/summary.h).
 */
struct diff_function_units {
	/*
	 * Owned: a one-sided diff of which no more is filled in than the metric, requests[], interrupts, and the
	 * functions, in no order; those without a value are none. Waiting for a CPU is in no other total, as in a
	 * comparison.
	 */
	struct diff *diff;
	/*
	 * The units: runs where there are three or more, else blocks of time of equal length, 20 to 40, where the
	 * profile has a timeline that is long enough; else the profile is one unit.
	 */
	size_t count;
	bool are_runs;
	double *whole;         /* owned: [unit] raw, without interrupts */
	double *self, *total;  /* owned: [function * count + unit] raw; 0 of interrupts, which no test is made of */
	double *work;          /* owned: [unit] requests that were answered in it; NULL: they can not be compared by */
	double sample_weight;  /* mean raw value of a sample; 0: not known, or the values are exact */
	uint64_t *fingerprint; /* owned: [function] of its code; 0: not known, or it has several pieces */
};

/* Sums the functions' values by unit; `options`: the metric. Fails as diff_create_single(). */
COMMON_MUST_CHECK
bool diff_function_units_create(const struct profile *profile, const struct diff_options *options,
	struct diff_function_units **units, struct error *err);
void diff_function_units_destroy(struct diff_function_units *units);

static inline void diff_function_units_cleanup(struct diff_function_units **units)
{
	diff_function_units_destroy(*units);
}
