/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/probability/median.h"

#include "common/common.h"

#include <math.h>
#include <stdlib.h>

static int median_compare_values(const void *a, const void *b)
{
	const struct weighted_value *x = a, *y = b;

	return ORDER(x->value, y->value);
}

static double sort_and_weigh(struct weighted_value *values, size_t count)
{
	double sum = 0;

	if (count > 0)
		qsort(values, count, sizeof(*values), median_compare_values);
	for (size_t i = 0; i < count; i++)
		sum += values[i].weight;
	return sum;
}

double weighted_median(struct weighted_value *values, size_t count)
{
	double half = sort_and_weigh(values, count) / 2, below = 0;

	for (size_t i = 0; i < count; i++) {
		below += values[i].weight;
		if (fabs(below - half) <= half * 1e-12 && i + 1 < count)
			return (values[i].value + values[i + 1].value) / 2;
		if (below > half)
			return values[i].value;
	}
	return NAN;
}
