/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Tells what the linker did from what a change did. A function of a module that was linked anew is *placed* if its
 * machine code is the same, and if no function above it in its stacks has code that differs, so that it is called as
 * often: where it lies is what differs (Curtsinger and Berger 2013; decision 101). Placement moves functions by up to a
 * third; a larger difference is one of data or of calls, and is not placed.
 *
 * Differences of placed functions are the sample of what placement does to this pair. Its variance, beyond that of
 * runs, is added to that of every row of such a module to the extent that the row's time lies in few functions. Of what
 * is left, a row is judged without what placed functions contribute: a placed function is never proven to differ, nor
 * is anything else by its time.
 *
 * With several layouts a side (layouts.h), a function is placed if its difference is no more than that between layouts
 * of one side, and variances are not touched.
 */

/* ---- What placement does: of functions here, of benchmarks in suite/judge.c ---- */

/* Returns whether placement may have made a difference, a logarithm that is known to within `error`. */
bool placement_explains(double effect, double error);

/* The same where layouts are known to differ by a relative standard deviation. */
bool placement_explains_by_layouts(double effect, double rsd);

/*
 * The variance of differences of the same code beyond `variance`, that of runs: the method of moments for random
 * effects with a mean of 0 (DerSimonian and Laird 1986).
 */
struct placement_estimate {
	double known_rsd; /* differences that are known worse than this say little; set by the caller */
	double sum, weights, squares;
	size_t count;
};

/* Adds a difference; `size`: how much it matters, in any unit. */
void placement_estimate_add(struct placement_estimate *estimate, double effect, double variance, double size);

/* Ends the estimate. False: there is nothing to estimate it from. */
bool placement_estimate_finish(const struct placement_estimate *estimate, double *variance, double *freedom);

/* ---- Of a comparison ---- */

struct diff_placement {
	bool is_of_layouts; /* layouts are the units: `variance` is 0, as they show by themselves how far they differ */
	size_t functions;   /* placed ones that the estimate rests on */
	double variance;    /* of the logarithm of one function's time; 0: none beyond that of runs */
	double freedom;     /* degrees of freedom of `variance` */
	/* The result for the whole, as runs alone show it: */
	double p;
	double concentration; /* part of `variance` that it has: 1 of a single function, 0.1 of ten that take the same
			       */
	double left;          /* its difference without that of placed functions, as a logarithm */
	double contribution;  /* scaled; what placed functions contribute to the difference */
	double changed_share; /* of the time: code that differs, or of which that is not known, in modules linked anew
			       */
	bool is_wide;         /* placement adds as much as a tenth to the variance of the whole */
};

/*
 * Adds placement to results of runs, and marks functions (diff_function.is_placement). Nothing happens where modules
 * are the same files, or where the metric is no time that the program ran.
 */
void placement_weigh(struct diff_build *build, const struct experiment *experiment, struct row_result *results);
