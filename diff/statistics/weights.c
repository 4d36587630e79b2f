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

static bool square_shares(const struct profile *profile, double *squared, struct error *err)
{
	CLEANUP(cleanup_free) double *sums = calloc(profile->sample_count + 1, sizeof(*sums));

	if (!sums)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->weighted_count; i++) {
		double weight = (double)profile->event_weights[i];

		sums[profile->events[i].sample] += weight;
		squared[profile->events[i].sample] += weight * weight;
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		squared[i] = sums[i] > 0 ? squared[i] / (sums[i] * sums[i]) : 0;
	return true;
}

static bool weight_shares_init(struct weight_shares *shares, const struct diff_build *build, struct error *err)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		if (!profile->has_timeline || profile->weighted_count == 0)
			continue;
		if (!ARRAY_ZEROED(&shares->squared[side], profile->sample_count + 1, err) ||
			!square_shares(profile, shares->squared[side], err))
			return false;
	}
	return true;
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

static bool sum_squares(
	const struct diff_build *build, const struct weight_shares *shares, struct squares *squares, struct error *err)
{
	const struct diff *diff = build->diff;

	if (!ARRAY_ZEROED(&squares->node_self, diff->node_count, err) ||
		!ARRAY_ZEROED(&squares->node_total, diff->node_count, err) ||
		!ARRAY_ZEROED(&squares->function_self, diff->function_count + 1, err) ||
		!ARRAY_ZEROED(&squares->function_total, diff->function_count + 1, err))
		return false;
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
	return true;
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

bool weights_fill(const struct diff_build *build, struct experiment *experiment, struct error *err)
{
	CLEANUP(squares_deinit) struct squares squares = { 0 };
	CLEANUP(weight_shares_deinit) struct weight_shares shares = { 0 };

	if (!build_is_counted(build))
		return true;
	if (!weight_shares_init(&shares, build, err))
		return false;
	if (all_weigh_the_same(build, &shares))
		return true;
	if (!ARRAY_ZEROED(&experiment->design_effect, experiment->row_count + 1, err) ||
		!sum_squares(build, &shares, &squares, err))
		return false;
	for (size_t row = 0; row < experiment->row_count; row++) {
		double sum = 0, square = statistics_weights_squares_of(&squares, &experiment->rows[row]);

		for (int side = 0; side < DIFF_SIDES; side++)
			sum += experiment_sum(experiment, side, row) / build->sample_weight[side];
		experiment->design_effect[row] = sum > 0 && square > 0 ? square / sum : 1;
	}
	return true;
}
