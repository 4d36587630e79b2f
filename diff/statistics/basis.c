/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps what the comparison of a whole found out, for comparisons of its parts. */
#include "diff/statistics/basis.h"

#include "diff/statistics/sums.h"

#include <stdlib.h>
#include <string.h>

struct basis *basis_create(void)
{
	return memory_zeroed(1, sizeof(struct basis));
}

void basis_destroy(struct basis *basis)
{
	if (!basis)
		return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(basis->whole[side]);
		free(basis->run_ends[side]);
		free(basis->profile_factors[side]);
	}
	free(basis);
}

void basis_keep_units(const struct diff_build *build, const struct experiment *experiment)
{
	struct basis *basis = basis_own(build);

	for (int side = 0; basis && side < DIFF_SIDES; side++) {
		size_t count = experiment->sides[side].unit_count;

		basis->unit_count[side] = count;
		basis->whole[side] = memory_zeroed(count + 1, sizeof(*basis->whole[side]));
		memcpy(basis->whole[side], experiment_values(experiment, (enum diff_side)side, 0),
			count * sizeof(double));
		if (!build->profiles[side]->has_timeline)
			continue;
		basis->run_ends[side] = sums_run_lengths(build->profiles[side]);
	}
}

void basis_apply(const struct diff_build *build, struct experiment *experiment)
{
	const struct diff *whole = build->diff->whole;

	experiment->is_part = whole != NULL;
	for (int side = 0; whole && side < DIFF_SIDES; side++)
		experiment->whole[side] = whole->basis->whole[side];
	experiment->whole_size = whole ? whole->total.base + whole->total.head : 0;
}
