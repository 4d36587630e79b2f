/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Arithmetic that the files of the room share. */

#include "diff/evidence/evidence.h"

#include <math.h>

static inline double evidence_square(double x)
{
	return x * x;
}

/* Returns the density of a normal distribution with a mean of 0. */
static inline double evidence_density(double x, double variance)
{
	return exp(-.5 * x * x / variance) / sqrt(2 * M_PI * variance);
}

/* Returns the sum of numbers. */
static inline double evidence_add(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/* Returns how far a profile of a side counts. */
static inline double evidence_part(const struct evidence_counts *side, size_t profile)
{
	return side->parts ? side->parts[profile] : 1;
}

/* Returns the sum over the profiles of a side, as far as they count. */
static inline double evidence_sum(const struct evidence_counts *side, const double *values)
{
	double sum = 0;

	for (size_t i = 0; i < side->count; i++)
		sum += evidence_part(side, i) * values[i];
	return sum;
}
