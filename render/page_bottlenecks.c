/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of what costs consist of, by function and by node. */
#include "render/page_data.h"

#include <math.h>
#include <stdlib.h>

/* Functions, or nodes of the tree: what they cost on each side. */
struct page_costs {
	const struct diff *diff;
	size_t count;
	bool are_nodes;
};

static const struct profile_cost *cost_of(const struct page_costs *costs, size_t side, size_t number)
{
	return costs->are_nodes ? &costs->diff->node_cost[side][number] : &costs->diff->functions[number].cost[side];
}

static struct diff_bottleneck classes_of(const struct page_costs *costs, size_t number)
{
	return costs->are_nodes ? diff_node_bottleneck(costs->diff, (uint32_t)number)
				: diff_function_bottleneck(costs->diff, &costs->diff->functions[number]);
}

static void append_costs(struct buffer *out, const struct page_costs *costs)
{
	CLEANUP(cleanup_free) uint64_t *components = memory_zeroed(costs->count + 1, sizeof(*components));
	size_t first = costs->diff->sides == 1 ? DIFF_HEAD : DIFF_BASE;

	buffer_append_varint(out, costs->count);
	for (size_t side = first; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < costs->count; i++)
			buffer_append_byte(out, (uint8_t)classes_of(costs, i).side[side]);
		for (int component = PROFILE_BOTTLENECK_INSTRUCTION; component <= PROFILE_BOTTLENECK_SYSTEM;
			component++) {
			for (size_t i = 0; i < costs->count; i++) {
				double value = cost_of(costs, side, i)->of[component];

				components[i] = value > 0 ? (uint64_t)llround(value) : 0;
			}
			page_data_append_fixed(out, components, costs->count);
		}
	}
	for (size_t i = 0; costs->diff->sides == DIFF_SIDES && i < costs->count; i++)
		buffer_append_byte(out, (uint8_t)classes_of(costs, i).change);
}

bool page_data_bottlenecks(const struct render_input *input, struct buffer *out, struct error *err)
{
	const struct diff *diff = input->diff;
	const struct page_costs functions = { diff, diff->function_count, false },
				nodes = { diff, diff->node_count, true };

	append_costs(out, &functions);
	append_costs(out, &nodes);
	return buffer_ok(out, err);
}
