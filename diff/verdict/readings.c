/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/readings.h"

#include "diff/statistics/load.h"
#include "diff/statistics/scale.h"

#include <math.h>

static void readings_set_other(struct diff_scale *scale, enum diff_scale_mode mode, double factor)
{
	scale->other_mode = mode;
	scale->other_factor = factor;
}

void readings_choose(struct diff_build *build)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	struct diff_scale *scale = &build->diff->scale;
	double base_seconds = load_seconds(base), head_seconds = load_seconds(head);

	/* Requests that were counted leave no other reading. If the load is unknown, all are part of each interval. */
	if (!scale_has_load(build) || scale->mode == DIFF_SCALE_PER_REQUEST || diff_load_is_open(build->diff))
		return;
	if (scale->mode != DIFF_SCALE_ROBUST && scale->mode != DIFF_SCALE_SHARE)
		readings_set_other(scale, DIFF_SCALE_ROBUST, build->load.factor);
	else if (scale_whole_commands(base) && scale_whole_commands(head))
		readings_set_other(scale, DIFF_SCALE_PER_RUN, (double)base->run_count / (double)head->run_count);
	else if (base_seconds > 0 && head_seconds > 0)
		readings_set_other(scale, DIFF_SCALE_RATE, base_seconds / head_seconds);
}

static bool readings_is_proven(const struct diff_estimate *estimate)
{
	return estimate->state == DIFF_STATE_MORE || estimate->state == DIFF_STATE_LESS;
}

static size_t count_disagreeing(const struct diff *diff, double least, bool self, uint32_t *greatest)
{
	double factor = diff->scale.other_factor, most = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		const struct diff_estimate *estimate = self ? &f->self : &f->total;
		const double *raw = self ? f->raw_self : f->raw_total;
		double other = raw[DIFF_HEAD] * factor - raw[DIFF_BASE];

		if (!readings_is_proven(estimate) || fabs(other) < least || (other > 0) == (estimate->delta > 0))
			continue;
		count++;
		if (fabs(estimate->delta) > most) {
			most = fabs(estimate->delta);
			*greatest = i;
		}
	}
	return count;
}

size_t readings_disagree(const struct diff *diff, double min_effect_points, uint32_t *greatest)
{
	double factor = diff->scale.other_factor;
	double least = min_effect_points / 100 * fmax(diff->raw_total[DIFF_BASE], diff->raw_total[DIFF_HEAD] * factor);
	size_t count;

	*greatest = PROFILE_NONE;
	if (!(factor > 0))
		return 0;
	/* Total times repeat the changes of the callees, so they count only if the readings agree on all self times. */
	count = count_disagreeing(diff, least, true, greatest);
	return count ? count : count_disagreeing(diff, least, false, greatest);
}
