/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/bottlenecks.h"

#include <math.h>

static void bottlenecks_collect_side(
	struct diff_build *build, enum diff_side side, const struct profile_cost_columns *columns)
{
	const struct profile *profile = build->profiles[side];
	struct diff *diff = build->diff;
	struct profile_cost *cost = memory_zeroed(diff->node_count + 1, sizeof(*cost));

	diff->node_cost[side] = cost;
	/* As a node's self value, so its cost is that of the function which an interpreter's frame runs. */
	for (size_t i = 0; i < profile->sample_count; i++)
		profile_cost_add(columns, &profile->values[i * profile->value_type_count],
			&cost[build->owners[diff->sample_nodes[side][i]]]);
	for (size_t node = 1; node < diff->node_count; node++)
		profile_cost_add_scaled(&diff->functions[diff->nodes[node].function].cost[side], &cost[node], 1);
}

/* Most profiles tell of none, and have functions by the million: a function has its costs elsewhere. */
static void allocate_costs(struct diff *diff)
{
	diff->function_costs = memory_zeroed(DIFF_SIDES * diff->function_count + 1, sizeof(*diff->function_costs));
	for (size_t i = 0; i < diff->function_count; i++)
		diff->functions[i].cost = &diff->function_costs[DIFF_SIDES * i];
}

void bottlenecks_collect(struct diff_build *build)
{
	struct profile_cost_columns columns[DIFF_SIDES] = { 0 };
	struct diff *diff = build->diff;
	bool explains = true;

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!build->profiles[side])
			continue;
		columns[side] = profile_cost_columns(build->profiles[side]);
		if (!columns[side].is_there)
			return;
		explains = explains && columns[side].metric == build->metric[side];
		diff->bottleneck_samples = fmax(diff->bottleneck_samples, columns[side].least_samples);
	}
	diff->has_bottlenecks = true;
	diff->bottlenecks_explain = explains;
	allocate_costs(diff);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side])
			bottlenecks_collect_side(build, (enum diff_side)side, &columns[side]);
}

static struct diff_bottleneck classify(
	const struct diff *diff, const struct profile_cost *base, const struct profile_cost *head)
{
	struct profile_cost scaled = { 0 };
	struct diff_bottleneck classes = { .side = { profile_bottleneck_of(base, diff->bottleneck_samples),
						   profile_bottleneck_of(head, diff->bottleneck_samples) } };

	if (diff->sides < DIFF_SIDES)
		return classes;
	profile_cost_add_scaled(&scaled, head, diff->scale.factor);
	classes.change = profile_bottleneck_of_change(base, &scaled, diff->bottleneck_samples);
	return classes;
}

struct diff_bottleneck diff_function_bottleneck(const struct diff *diff, const struct diff_function *function)
{
	if (!diff->has_bottlenecks)
		return (struct diff_bottleneck){ 0 };
	return classify(diff, &function->cost[DIFF_BASE], &function->cost[DIFF_HEAD]);
}

struct diff_bottleneck diff_node_bottleneck(const struct diff *diff, uint32_t node)
{
	static const struct profile_cost none;

	if (!diff->has_bottlenecks)
		return (struct diff_bottleneck){ 0 };
	return classify(diff, diff->node_cost[DIFF_BASE] ? &diff->node_cost[DIFF_BASE][node] : &none,
		&diff->node_cost[DIFF_HEAD][node]);
}

const char *diff_cause(const struct diff *diff, const struct diff_function *function)
{
	double base, head;

	if (!diff->bottlenecks_explain)
		return "";
	base = profile_cost_sum(&function->cost[DIFF_BASE]);
	head = profile_cost_sum(&function->cost[DIFF_HEAD]) * diff->scale.factor;
	/* Components that the metric leaves out, such as time in the kernel, can make the sum move the other way. */
	if ((head > base) != (function->self.delta > 0))
		return "";
	return profile_bottleneck_cause(diff_function_bottleneck(diff, function).change);
}
