/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/pairs.h"

#include "diff/statistics/run_figures.h"

#include <math.h>
#include <string.h>

enum { LEAST_PAIRS = 7 };

/* A pair that differs by less than this from the others is not wild, even if these agree to the last digit. */
static const double least_distance = 0.05;

bool pairs_by_ranks(const double *differences, size_t count, struct signed_rank *result)
{
	struct weighted_value scratch[SIGNED_RANK_MOST];
	double values[SIGNED_RANK_MOST];
	struct run_spread spread;
	bool any = false;

	if (count < LEAST_PAIRS || count > SIGNED_RANK_MOST)
		return false;
	spread = run_spread_of(differences, count, scratch);
	for (size_t i = 0; i < count; i++)
		any |= fabs(differences[i] - spread.median) > least_distance && run_is_far(&spread, differences[i]);
	if (!any)
		return false;
	memcpy(values, differences, count * sizeof(*values));
	*result = signed_rank_of(values, count);
	return true;
}
