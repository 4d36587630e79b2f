/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/row_shares.h"

#include "diff/match/interrupts.h"

void row_shares_deinit(struct row_shares *s)
{
	free(s->self);
	free(s->total);
	free(s->of_self);
	free(s->of_total);
	free(s->all_self);
	free(s->all_total);
}

static void row_shares_init(struct row_shares *s, const struct diff *diff)
{
	s->self = memory_zeroed(diff->node_count + 1, sizeof(double));
	s->total = memory_zeroed(diff->node_count + 1, sizeof(double));
	s->of_self = memory_zeroed(diff->function_count + 1, sizeof(double));
	s->of_total = memory_zeroed(diff->function_count + 1, sizeof(double));
	s->all_self = memory_zeroed(diff->function_count + 1, sizeof(double));
	s->all_total = memory_zeroed(diff->function_count + 1, sizeof(double));
}

static double both_sides(const struct diff *diff, double *const values[DIFF_SIDES], uint32_t node)
{
	return values[DIFF_BASE][node] + values[DIFF_HEAD][node] * diff->scale.factor;
}

void row_shares_sum(const struct diff_build *build, const bool *marked, struct row_shares *s)
{
	const struct diff *diff = build->diff;

	row_shares_init(s, diff);
	for (uint32_t node = (uint32_t)diff->node_count; node-- > 1;) {
		const struct diff_node *n = &diff->nodes[node];
		double self = both_sides(diff, diff->node_self, node);

		if (interrupts_is_run_queue(diff, node)) {
			s->of_total[n->function] += marked[node] ? self : 0;
			s->all_total[n->function] += self;
		}
		if (n->flags & DIFF_NODE_INTERRUPT)
			continue;
		s->self[node] = marked[node] ? self : 0;
		s->total[node] += s->self[node];
		s->total[n->parent] += s->total[node];
		s->of_self[build_owner(build, node)] += s->self[node];
		s->all_self[build_owner(build, node)] += self;
		if (build->topmost[node]) {
			s->of_total[n->function] += s->total[node];
			s->all_total[n->function] += both_sides(diff, diff->node_total, node);
		}
	}
}

double row_share(const struct diff *diff, const struct row_shares *s, const struct row *row)
{
	double part = 0, all = 0;

	switch (row->kind) {
	case ROW_SELF:
		part = s->of_self[row->id];
		all = s->all_self[row->id];
		break;
	case ROW_TOTAL:
		part = s->of_total[row->id];
		all = s->all_total[row->id];
		break;
	case ROW_WHOLE:
	case ROW_NODE:
		part = s->total[row->id];
		all = both_sides(diff, diff->node_total, row->id);
		break;
	}
	return all > 0 ? part / all : 0;
}
