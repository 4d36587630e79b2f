/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/kinds.h"

#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"
#include "diff/evidence/spreads.h"

#include <stdlib.h>

void kinds_weigh(const double (*likelihoods)[EVIDENCE_SPREADS], size_t count, const double parts[EVIDENCE_KINDS],
	const double priors[EVIDENCE_KINDS][EVIDENCE_SPREADS], double weights[EVIDENCE_KINDS])
{
	double top = -INFINITY, sum = 0;

	for (int kind = 0; kind < EVIDENCE_KINDS; kind++) {
		weights[kind] = log(parts[kind] + 1e-12);
		for (size_t i = 0; i < count; i++) {
			double likelihood = 0;

			for (int k = 0; k < EVIDENCE_SPREADS; k++)
				likelihood += priors[kind][k] * likelihoods[i][k];
			weights[kind] += evidence_temper(count) * log(fmax(likelihood, 1e-300));
		}
		top = fmax(top, weights[kind]);
	}
	for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
		sum += weights[kind] = exp(weights[kind] - top);
	for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
		weights[kind] /= sum;
}

/* Finds the likelihoods of spreads by what profiles of one side differ by, and by the difference of both sides. */
static void kinds_of_row(const struct evidence_row *row, double likelihoods[static EVIDENCE_SPREADS])
{
	double samples[EVIDENCE_SIDES], work[EVIDENCE_SIDES], difference, top = -INFINITY;

	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		samples[side] = evidence_sum(&row->sides[side], row->sides[side].samples);
		work[side] = evidence_sum(&row->sides[side], row->sides[side].work);
	}
	difference = log(fmax(samples[1], .5) * work[0] / (fmax(samples[0], .5) * work[1]));
	spreads_of_row(row, likelihoods);
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		double variance = spreads_variance(row, spreads_of(row, k));

		likelihoods[k] += log(evidence_change_density(difference, variance, evidence_factor_same));
		top = fmax(top, likelihoods[k]);
	}
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		likelihoods[k] = exp(likelihoods[k] - top);
}

void evidence_learn_kind(const struct evidence_row *rows, size_t count, struct evidence_exact_priors *priors)
{
	CLEANUP(cleanup_free) double(*likelihoods)[EVIDENCE_SPREADS] = memory_alloc((count + 1) * sizeof(*likelihoods));
	double weights[EVIDENCE_KINDS];
	size_t told = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].part >= evidence_kind_part)
			kinds_of_row(&rows[i], likelihoods[told++]);
	kinds_weigh(likelihoods, told, evidence_kinds.parts, evidence_kinds.self, weights);
	*priors = (struct evidence_exact_priors){ 0 };
	for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
		for (int k = 0; k < EVIDENCE_SPREADS; k++) {
			priors->self[k] += weights[kind] * evidence_kinds.self[kind][k];
			priors->total[k] += weights[kind] * evidence_kinds.total[kind][k];
		}
}
