/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates how much the sum of several functions' times varies between processes. */
#include "diff/statistics/mix.h"

#include "diff/statistics/evidence_single.h"

#include <math.h>

void mix_add(struct mix *mix, enum mix_kind kind, double share, double waits)
{
	double works = share * (1 - waits);

	mix->parts[kind] += works;
	mix->squares[kind] += works * works;
	mix->parts[MIX_WAITS] += share * waits;
	mix->squares[MIX_WAITS] += share * waits * share * waits;
}

bool mix_is_changed(const struct mix *mix)
{
	return mix->parts[MIX_CHANGED] > 0.5;
}

bool mix_is_by_tier(const struct mix *mix)
{
	return mix->parts[MIX_BY_TIER] > 0.5;
}

static double floor_of_kind(const struct process_floor *floor, int kind)
{
	const double floors[MIX_KINDS] = { floor->others, floor->by_tier > 0 ? floor->by_tier : floor->others,
		floor->changed, floor->waits };

	return floors[kind];
}

double mix_whole_rsd(const struct mix *mix, const struct process_floor *floor)
{
	double variance = pow(floor->speed, 2);

	for (int kind = 0; kind < MIX_KINDS; kind++)
		variance += pow(floor_of_kind(floor, kind), 2) * fmin(mix->squares[kind], 1);
	return sqrt(variance);
}

double mix_rsd(const struct mix *mix, const struct process_floor *floor, double *freedom)
{
	double apart = pow(mix_whole_rsd(mix, floor), 2), together = 0, changed, variance;

	for (int kind = 0; kind < MIX_KINDS; kind++)
		together += pow(floor_of_kind(floor, kind) * mix->parts[kind], 2);
	variance = fmin(apart, together);
	changed = floor->changed * floor->changed *
		  (together < apart ? pow(mix->parts[MIX_CHANGED], 2) : fmin(mix->squares[MIX_CHANGED], 1));
	/* Of the parts, only the floor of changed code is an estimate (Satterthwaite 1946). */
	*freedom = changed > 0 && isfinite(floor->changed_freedom)
			   ? variance * variance / (changed * changed / floor->changed_freedom)
			   : INFINITY;
	return sqrt(variance);
}
