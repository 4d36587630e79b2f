/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/placed.h"

#include "diff/statistics/basis.h"
#include "diff/words.h"

#include <math.h>

/* Runs alone would prove the difference at this level. */
static const double proven_p = 0.05;

/* A difference of less than this part is none that anybody asks about. */
static const double least_change = 0.01;

/* All code that ran is the same if other code has less than this part of the time. */
static const double most_changed = 0.01;

bool placed_is_reason(const struct diff_build *build, const struct proven *proven)
{
	const struct diff *diff = build->diff;
	const struct diff_placement *placement = &basis_of(diff)->placement;

	if (diff->whole || placement->functions == 0 || placement->is_of_layouts || !(placement->p <= proven_p) ||
		fabs(diff->total.delta) < least_change * diff->total.base)
		return false;
	if (proven_way_of(diff->total.state) || proven->more.greatest || proven->less.greatest)
		return false;
	return placement->contribution / diff->total.delta > 0.5;
}

void placed_decide(struct diff_build *build)
{
	struct diff *diff = build->diff;
	const struct diff_placement *placement = &basis_of(diff)->placement;
	char words[WORDS_CHANGE];

	words_change(diff, &diff->total, words);
	if (placement->changed_share < most_changed) {
		diff->verdict = DIFF_PLACEMENT;
		build_text(diff, &diff->verdict_text,
			"same code, and head %s %s here; kelvin bench --layouts 8 would tell a change from where the linker put it",
			words_verb(diff), words);
		return;
	}
	diff->verdict = DIFF_INCONCLUSIVE;
	build_text(diff, &diff->verdict_text,
		"no change is proven: head %s %s, most of it in functions whose code is the same, so that where the linker put them explains it; kelvin bench --layouts 8 would tell",
		words_verb(diff), words);
}
