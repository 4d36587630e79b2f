/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/placed.h"

#include "diff/constants.h"
#include "diff/statistics/basis.h"
#include "diff/words.h"

#include <math.h>

bool placed_is_reason(const struct diff_build *build, const struct proven *proven)
{
	const struct diff *diff = build->diff;
	const struct diff_placement *placement = &basis_of(diff)->placement;

	if (diff->whole || placement->functions == 0 || placement->is_of_layouts ||
		!(placement->p <= placed_proven_p) || fabs(diff->total.delta) < placed_least_change * diff->total.base)
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
	if (placement->changed_share < placed_most_changed) {
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
