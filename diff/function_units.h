/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The values of each function of one profile, as comparisons have them: with their rules for interpreters, interrupts
 * and waits, and by the same sums. For whoever compares a profile with many others later, and keeps no more of it than
 * these (profile/summary/summary.h).
 */
struct diff_function_units {
	/*
	 * Owned: a one-sided diff of which no more is filled in than the metric, requests[], interrupts, and the
	 * functions, in no order; those without a value are none. Waiting for a CPU is in no other total, as in a
	 * comparison.
	 */
	struct diff *diff;
	bool counts_requests;  /* values can be compared by requests */
	double sample_weight;  /* mean raw value of a sample; 0: not known, or the values are exact */
	uint64_t *fingerprint; /* owned: [function] of its code; 0: not known, or it has several pieces */
};

/* Sums the functions' values; `options`: the metric. Fails as diff_create_single(). */
COMMON_MUST_CHECK
bool diff_function_units_create(const struct profile *profile, const struct diff_options *options,
	struct diff_function_units **units, struct error *err);
void diff_function_units_destroy(struct diff_function_units *units);

static inline void diff_function_units_cleanup(struct diff_function_units **units)
{
	diff_function_units_destroy(*units);
}
