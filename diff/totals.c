/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/totals.h"

#include "diff/match/interrupts.h"

#include <math.h>
#include <string.h>

void totals_sum(struct diff_build *build)
{
	struct diff *diff = build->diff;

	memset(diff->origins, 0, sizeof(diff->origins));
	diff->interrupts = diff->compilation = diff->run_queue = (struct diff_origin){ 0 };
	for (size_t i = 0; i < diff->function_count; i++) {
		memset(diff->functions[i].raw_self, 0, sizeof(diff->functions[i].raw_self));
		memset(diff->functions[i].raw_total, 0, sizeof(diff->functions[i].raw_total));
	}
	/* Samples without a stack have no function; their origin is unknown. */
	for (int side = 0; side < DIFF_SIDES; side++)
		diff->origins[PROFILE_ORIGIN_UNKNOWN].raw[side] += diff->node_self[side][0];
	for (uint32_t node = 1; node < diff->node_count; node++) {
		struct diff_function *f = &diff->functions[diff->nodes[node].function];
		struct diff_function *owner = &diff->functions[build_owner(build, node)];
		struct diff_origin *origin = interrupts_is_run_queue(diff, node) ? &diff->run_queue
					     : owner->compiles                   ? &diff->compilation
					     : owner->interrupt                  ? &diff->interrupts
										 : &diff->origins[owner->origin];

		for (int side = 0; side < DIFF_SIDES; side++) {
			owner->raw_self[side] += diff->node_self[side][node];
			origin->raw[side] += diff->node_self[side][node];
			if (build->topmost[node])
				f->raw_total[side] += diff->node_total[side][node];
		}
	}
}

struct diff_estimate totals_estimate(const double raw[DIFF_SIDES], double factor)
{
	double base = raw[DIFF_BASE], head = raw[DIFF_HEAD] * factor;

	return (struct diff_estimate){
		.base = base,
		.head = head,
		.delta = head - base,
		.ci_low = NAN,
		.ci_high = NAN,
		.q = NAN,
		.detectable = NAN,
		.state = DIFF_STATE_SAME,
	};
}

static void scale_origin(struct diff_origin *origin, double factor)
{
	origin->base = origin->raw[DIFF_BASE];
	origin->head = origin->raw[DIFF_HEAD] * factor;
	origin->delta = origin->head - origin->base;
}

void totals_scale(struct diff *diff)
{
	double factor = diff->scale.factor;

	scale_origin(&diff->interrupts, factor);
	scale_origin(&diff->run_queue, factor);
	scale_origin(&diff->compilation, factor);
	diff->total = totals_estimate((double[DIFF_SIDES]){ 0, 0 }, factor);
	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		struct diff_origin *origin = &diff->origins[i];

		scale_origin(origin, factor);
		/* The total is the sum of its origins, so that the ledger adds up exactly. */
		diff->total.base += origin->base;
		diff->total.head += origin->head;
		diff->total.delta += origin->delta;
	}
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		f->self = totals_estimate(f->raw_self, factor);
		f->total = totals_estimate(f->raw_total, factor);
	}
}
