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
