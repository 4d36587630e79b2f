/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/*
 * Finds how probable each spread (constants.h) is of a row: its prior, times how well the spread explains the
 * differences between profiles of one side. They say nothing where a side has one profile.
 */
void spreads_weigh(const struct evidence_row *row, const double priors[static EVIDENCE_SPREADS],
	double weights[static EVIDENCE_SPREADS]);

/*
 * Finds the logarithm of the likelihood of each spread by one side's profiles, relative to the greatest; 0: they tell
 * nothing.
 */
void spreads_of_side(const struct evidence_counts *side, double values[static EVIDENCE_SPREADS]);

/*
 * Returns the variance of the logarithm of the ratio of both sides' sums where each profile varies by a spread: a sum's
 * is that of the lognormal distribution with the mean and the variance of the sum (Fenton 1960).
 */
double spreads_variance(const struct evidence_row *row, double spread);
