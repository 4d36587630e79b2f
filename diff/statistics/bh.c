/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/bh.h"

#include "diff/constants.h"

#include <math.h>

static double bh_weight_of(const struct experiment *experiment, size_t row)
{
	double samples = 0;

	for (int side = 0; side < DIFF_SIDES; side++)
		samples += experiment_samples(experiment, (enum diff_side)side, row);
	/* If samples are not counted, all rows have the same weight. */
	return isinf(samples) ? 1 : samples / (samples + diff_half_weight_samples);
}

/* Their p is divided by the weight. */
static size_t bh_collect_members(const struct experiment *experiment, const struct family *family,
	const struct row_result *results, struct step_up_member *members)
{
	size_t count = 0;
	double sum = 0;

	for (uint32_t row = 0; row < experiment->row_count; row++) {
		double weight = bh_weight_of(experiment, row);

		/* Row 0, the whole, is tested by itself. */
		if (row == 0 || !results[row].tested || results[row].adjustment > 0 ||
			experiment->rows[row].twin != row || !family_has(family, &experiment->rows[row]))
			continue;
		members[count++] = (struct step_up_member){ .p = results[row].p / weight, .id = row };
		sum += weight;
	}
	/* Weights are scaled to a mean of 1. */
	for (size_t i = 0; i < count; i++)
		members[i].p *= sum / (double)count;
	return count;
}

void bh_adjust(const struct experiment *experiment, const struct family *family, double rate,
	struct row_result *results, double *alpha)
{
	CLEANUP(cleanup_free)
	struct step_up_member *members = memory_alloc((experiment->row_count + 1) * sizeof(*members));
	size_t count, found = 0;

	count = bh_collect_members(experiment, family, results, members);
	step_up(members, count);
	for (size_t i = 0; i < count; i++) {
		/* A weight above 1 must not prove a row whose own interval contains 0. */
		results[members[i].id].q = fmax(members[i].q, results[members[i].id].p);
		found += members[i].q < rate;
	}
	/*
	 * There are two tests, one of the whole and one of its functions, so each gets half of the error rate
	 * (Bonferroni).
	 */
	results[0].q = fmin(1, 2 * results[0].p);
	for (size_t row = 0; row < experiment->row_count; row++) {
		if (results[row].adjustment > 0)
			results[row].q = fmin(1, results[row].p * results[row].adjustment);
		else if (results[row].tested && family_has(family, &experiment->rows[row]))
			results[row].q = results[experiment->rows[row].twin].q;
	}
	*alpha = count > 0 ? rate * (double)(found > 0 ? found : 1) / (double)count : rate;
}
