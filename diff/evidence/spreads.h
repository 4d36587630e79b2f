/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/*
 * Finds how probable each spread (constants.h) is of a row: its prior, times how well the spread explains the
 * differences between profiles of one side, or between pairs of profiles. They say nothing where a side has one
 * profile.
 */
void spreads_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	double weights[static EVIDENCE_SPREADS]);

/* Returns a spread of a class; beyond those that it has, the last one, which has no probability there. */
double spreads_at(enum evidence_class class, int k);

/* Returns a spread of a row. */
double spreads_of(const struct evidence_row *row, int k);

/*
 * Smooths how probable spreads next to each other are, as they cannot be told apart (Silverman, Jones, Nychka and
 * Wilson 1990): done at each step of an expectation maximisation.
 */
void spreads_smooth(double parts[static EVIDENCE_SPREADS]);

/* Returns the priors of a row's spreads. */
const double *spreads_priors(const struct evidence_row *row);

/*
 * Finds the logarithm of the likelihood of each spread of a class by one side's profiles, relative to the greatest; 0:
 * they tell nothing.
 */
void spreads_of_side(
	const struct evidence_counts *side, enum evidence_class class, double values[static EVIDENCE_SPREADS]);

/* The same of counts that nobody sampled, of a row that is such a part of the whole. */
void spreads_of_exact(const struct evidence_counts *side, double part, double values[static EVIDENCE_SPREADS]);

/* Finds the logarithm of the likelihood of each spread by the profiles of both sides, relative to some value. */
void spreads_of_row(const struct evidence_row *row, double values[static EVIDENCE_SPREADS]);

/*
 * Returns the variance of the logarithm of the ratio of both sides' sums where each profile varies by a spread: a sum's
 * is that of the lognormal distribution with the mean and the variance of the sum (Fenton 1960).
 */
double spreads_variance(const struct evidence_row *row, double spread);
