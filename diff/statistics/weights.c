/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/weights.h"

#include "diff/match/interrupts.h"

#include <string.h>

/* Sums of the samples' squared weights, in mean weights of their side. */
struct squares {
	double *node_self, *node_total, *function_self, *function_total;
};

static void squares_deinit(struct squares *squares)
{
	free(squares->node_self);
	free(squares->node_total);
	free(squares->function_self);
	free(squares->function_total);
}

/*
 * The inequality with which the values of samples are shared out among their events.
 *
 * [sample] the sum of the squared shares of its events: 1 if a single event has all of its value, 1/n if n events have
 * as much each; 0: its events have no weights of their own. NULL: no event of the side has one. Owned.
 */
struct weight_shares {
	double *squared[DIFF_SIDES];
};

static void weight_shares_deinit(struct weight_shares *shares)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		free(shares->squared[side]);
}

static void square_shares(const struct profile *profile, double *squared)
{
	CLEANUP(cleanup_free) double *sums = memory_zeroed(profile->sample_count + 1, sizeof(*sums));

	for (size_t i = 0; i < profile->weighted_count; i++) {
		double weight = (double)profile->event_weights[i];

		sums[profile->events[i].sample] += weight;
		squared[profile->events[i].sample] += weight * weight;
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		squared[i] = sums[i] > 0 ? squared[i] / (sums[i] * sums[i]) : 0;
}

static void weight_shares_init(struct weight_shares *shares, const struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		if (!profile->has_timeline || profile->weighted_count == 0)
			continue;
		shares->squared[side] = memory_zeroed(profile->sample_count + 1, sizeof(*shares->squared[side]));
		square_shares(profile, shares->squared[side]);
	}
}

/*
 * Returns the metric's value of a sample, in mean weights; `*weight`: the sum of its events' squared weights over the
 * sum of their weights, which is the weight of each if they are equal.
 */
static double weights_value_of(const struct diff_build *build, const struct weight_shares *shares, enum diff_side side,
	size_t sample, double *weight)
{
	const struct profile *profile = build->profiles[side];
	double count = (double)profile->values[sample * profile->value_type_count + build->counts[side]];
	double value = build_value(build, side, sample);
	double squared = shares->squared[side] ? shares->squared[side][sample] : 0;

	/* In this order of operations, equal weights give exactly 1. */
	*weight = (squared > 0 ? value * squared : count > 0 ? value / count : value) / build->sample_weight[side];
	return value / build->sample_weight[side];
}

static bool all_weigh_the_same(const struct diff_build *build, const struct weight_shares *shares)
{
	double weight;

	for (int side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < build->profiles[side]->sample_count; i++) {
			if (weights_value_of(build, shares, (enum diff_side)side, i, &weight) > 0 && weight != 1)
				return false;
		}
	}
	return true;
}

static void sum_squares(const struct diff_build *build, const struct weight_shares *shares, struct squares *squares)
{
	const struct diff *diff = build->diff;

	squares->node_self = memory_zeroed(diff->node_count, sizeof(*squares->node_self));
	squares->node_total = memory_zeroed(diff->node_count, sizeof(*squares->node_total));
	squares->function_self = memory_zeroed(diff->function_count + 1, sizeof(*squares->function_self));
	squares->function_total = memory_zeroed(diff->function_count + 1, sizeof(*squares->function_total));
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < build->profiles[side]->sample_count; i++) {
			double weight, value = weights_value_of(build, shares, (enum diff_side)side, i, &weight);

			squares->node_self[diff->sample_nodes[side][i]] += value * weight;
		}
	}
	memcpy(squares->node_total, squares->node_self, diff->node_count * sizeof(double));
	for (uint32_t node = (uint32_t)diff->node_count; node-- > 1;) {
		uint32_t function = diff->nodes[node].function;

		if (interrupts_is_run_queue(diff, node))
			squares->function_total[function] += squares->node_total[node];
		if (diff->nodes[node].flags & DIFF_NODE_INTERRUPT)
			continue;
		squares->node_total[diff->nodes[node].parent] += squares->node_total[node];
		squares->function_self[build_owner(build, node)] += squares->node_self[node];
		if (build->topmost[node])
			squares->function_total[function] += squares->node_total[node];
	}
}

static double statistics_weights_squares_of(const struct squares *squares, const struct row *row)
{
	switch (row->kind) {
	case ROW_SELF:
		return squares->function_self[row->id];
	case ROW_TOTAL:
		return squares->function_total[row->id];
	case ROW_WHOLE:
	case ROW_NODE:
		return squares->node_total[row->id];
	}
	return 0;
}

void weights_fill(const struct diff_build *build, struct experiment *experiment)
{
	CLEANUP(squares_deinit) struct squares squares = { 0 };
	CLEANUP(weight_shares_deinit) struct weight_shares shares = { 0 };

	if (!build_is_counted(build))
		return;
	weight_shares_init(&shares, build);
	if (all_weigh_the_same(build, &shares))
		return;
	experiment->design_effect = memory_zeroed(experiment->row_count + 1, sizeof(*experiment->design_effect));
	sum_squares(build, &shares, &squares);
	for (size_t row = 0; row < experiment->row_count; row++) {
		double sum = 0, square = statistics_weights_squares_of(&squares, &experiment->rows[row]);

		for (int side = 0; side < DIFF_SIDES; side++)
			sum += experiment_sum(experiment, side, row) / build->sample_weight[side];
		experiment->design_effect[row] = sum > 0 && square > 0 ? square / sum : 1;
	}
}
