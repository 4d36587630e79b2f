/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/constants.h"

#include <gsl/gsl_rng.h>

/* Draws a spread between starts from the prior of a class of rows. */
static inline double drawn_spread(gsl_rng *rng, enum evidence_class class)
{
	double at = gsl_rng_uniform(rng), sum = 0;
	int k = -1;

	do {
		sum += evidence_spread_priors[class][++k];
	} while (sum < at && k + 1 < EVIDENCE_SPREADS);
	return evidence_spreads[k];
}
