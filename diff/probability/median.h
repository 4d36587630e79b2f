/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

struct weighted_value {
	double value, weight;
};

/*
 * Returns the value that halves the weight; if the border falls between two values, their mean, so that negating all
 * values negates the result. NAN without weight. Sorts the array.
 */
double weighted_median(struct weighted_value *values, size_t count);

/*
 * Returns the variance of that median, from the scatter of the values around it: their median absolute deviation,
 * converted as for a normal distribution (Rousseeuw and Croux 1993), and the efficiency of the median, 2/pi of the
 * mean's. Overwrites the values.
 */
double weighted_median_variance(struct weighted_value *values, size_t count, double median);
