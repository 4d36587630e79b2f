/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/places.h"

#include "diff/constants.h"

#include <math.h>

/* Sums the self times of all nodes, those of an interpreter's frames at the functions that they run. */
static void sum_self(const struct diff_build *build, double *const self[DIFF_SIDES])
{
	const struct diff *diff = build->diff;

	for (uint32_t n = 1; n < diff->node_count; n++) {
		if (diff->nodes[n].flags & DIFF_NODE_INTERRUPT)
			continue;
		self[DIFF_BASE][build->owners[n]] += diff->node_self[DIFF_BASE][n];
		self[DIFF_HEAD][build->owners[n]] += diff->node_self[DIFF_HEAD][n] * diff->scale.factor;
	}
}

static bool has_direction(double base, double head, double delta)
{
	return (head - base) * delta > 0 && fabs(head - base) > places_rounding * fmax(base, head);
}

static bool places_is_place(const struct diff_build *build, double *const self[DIFF_SIDES], uint32_t n)
{
	const struct diff *diff = build->diff;
	const struct diff_node *node = &diff->nodes[n];
	const struct diff_function *f = &diff->functions[node->function];

	if (node->flags & DIFF_NODE_INTERRUPT)
		return false;
	if (diff_state_is_difference(f->self.state))
		return has_direction(self[DIFF_BASE][n], self[DIFF_HEAD][n], f->self.delta);
	return diff_state_is_difference(f->total.state) && build->topmost[n] &&
	       !diff_state_is_difference((enum diff_state)node->state) &&
	       has_direction(diff->node_total[DIFF_BASE][n], diff->node_total[DIFF_HEAD][n] * diff->scale.factor,
		       f->total.delta);
}

void places_mark(struct diff_build *build)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) double *base = memory_zeroed(diff->node_count + 1, sizeof(*base));
	CLEANUP(cleanup_free) double *head = memory_zeroed(diff->node_count + 1, sizeof(*head));
	double *const self[DIFF_SIDES] = { base, head };

	sum_self(build, self);
	for (uint32_t n = 1; n < diff->node_count; n++)
		if (places_is_place(build, self, n))
			diff->nodes[n].flags |= DIFF_NODE_PLACE;
}
