/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

struct weighted_value {
	double value, weight;
};

/*
 * The value that halves the weight; between two when it falls on the border, so that negating all values negates it.
 * NAN without weight. Sorts the array.
 */
double weighted_median(struct weighted_value *values, size_t count);

/*
 * Variance of that median, from how far the values scatter around it: their median absolute deviation, as a normal
 * distribution's (Rousseeuw and Croux 1993), and the median's efficiency of 2/pi beside the mean's. Overwrites the
 * values.
 */
double weighted_median_variance(struct weighted_value *values, size_t count, double median);

/* Mean of the middle half of the weight (Tukey's midmean). As robust against a quarter of outliers as the median, and
 * steadier. Sorts the array. */
double weighted_midmean(struct weighted_value *values, size_t count);
