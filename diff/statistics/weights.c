/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/weights.h"

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
 * The metric's value of a sample, in mean weights; `*weight`: the same for each of the events that the sample counts.
 */
static double weights_value_of(const struct diff_build *build, enum diff_side side, size_t sample, double *weight)
{
	const struct profile *profile = build->profiles[side];
	const int64_t *values = &profile->values[sample * profile->value_type_count];
	double value = (double)values[build->metric[side]];

	/* In this order of operations, equal weights give exactly 1. */
	*weight = (values[build->counts[side]] > 0 ? value / (double)values[build->counts[side]] : value) /
		  build->sample_weight[side];
	return value / build->sample_weight[side];
}

static bool all_weigh_the_same(const struct diff_build *build)
{
	double weight;

	for (int side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < build->profiles[side]->sample_count; i++) {
			(void)weights_value_of(build, (enum diff_side)side, i, &weight);
			if (weight != 1)
				return false;
		}
	}
	return true;
}

static bool sum_squares(const struct diff_build *build, struct squares *squares, struct error *err)
{
	const struct diff *diff = build->diff;

	squares->node_self = calloc(diff->node_count, sizeof(double));
	squares->node_total = malloc(diff->node_count * sizeof(double));
	squares->function_self = calloc(diff->function_count + 1, sizeof(double));
	squares->function_total = calloc(diff->function_count + 1, sizeof(double));
	if (!squares->node_self || !squares->node_total || !squares->function_self || !squares->function_total)
		return error_set_memory(err);
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < build->profiles[side]->sample_count; i++) {
			double weight, value = weights_value_of(build, (enum diff_side)side, i, &weight);

			squares->node_self[diff->sample_nodes[side][i]] += value * weight;
		}
	}
	memcpy(squares->node_total, squares->node_self, diff->node_count * sizeof(double));
	for (size_t node = diff->node_count; node-- > 1;) {
		uint32_t function = diff->nodes[node].function;

		if (diff->nodes[node].flags & DIFF_NODE_INTERRUPT)
			continue;
		squares->node_total[diff->nodes[node].parent] += squares->node_total[node];
		squares->function_self[function] += squares->node_self[node];
		if (build->topmost[node])
			squares->function_total[function] += squares->node_total[node];
	}
	return true;
}

static double squares_of(const struct squares *squares, const struct row *row)
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

	if (!build_is_counted(build) || all_weigh_the_same(build))
		return true;
	experiment->design_effect = malloc((experiment->row_count + 1) * sizeof(double));
	if (!experiment->design_effect)
		return error_set_memory(err);
	if (!sum_squares(build, &squares, err))
		return false;
	for (size_t row = 0; row < experiment->row_count; row++) {
		double sum = 0, square = squares_of(&squares, &experiment->rows[row]);

		for (int side = 0; side < DIFF_SIDES; side++)
			sum += experiment_sum(experiment, side, row) / build->sample_weight[side];
		experiment->design_effect[row] = sum > 0 && square > 0 ? square / sum : 1;
	}
	return true;
}
