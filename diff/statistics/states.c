/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/states.h"
#include "diff/probability/probability.h"

#include <math.h>

/*
 * Makes the interval of a row's difference. Where base has nothing, the interval is of how much more than half a sample
 * head has, and ends at what is left of head's value.
 */
static void states_interval_of(const struct row_result *result, double *low, double *high)
{
	double reference = result->base > 0 ? result->base : result->head * exp(-result->effect);

	*low = fmin(fmax(reference * exp(result->low) - result->base, -result->base), result->head - result->base);
	*high = fmax(reference * exp(result->high) - result->base, result->head - result->base);
}

bool states_found(const struct row_result *result, double rate, double least_effect)
{
	double delta = result->head - result->base;

	return result->tested && result->q < rate && fabs(delta) >= least_effect &&
	       (result->effect > 0) == (delta > 0) && (result->judged > 0) == (delta > 0) &&
	       (delta > 0 ? result->low > 0 : result->high < 0);
}

static enum diff_state unproven_state(double delta, double least_effect)
{
	return fabs(delta) >= least_effect ? DIFF_STATE_UNPROVEN : DIFF_STATE_SAME;
}

/*
 * `was_there`, `is_there`: whether the function occurs in base and in head. A function that only has no self time in
 * base is not new in head.
 */
static enum diff_state states_of_result(
	const struct diff_build *build, const struct row_result *result, bool was_there, bool is_there)
{
	double least = build_least_effect(build), delta = result->head - result->base;

	if (!states_found(result, build->options.q, least))
		return unproven_state(delta, least);
	if (!was_there)
		return DIFF_STATE_NEW;
	if (!is_there)
		return DIFF_STATE_GONE;
	return delta > 0 ? DIFF_STATE_MORE : DIFF_STATE_LESS;
}

/* Returns the least difference that such an error shows, of a single test. */
static double detectable(const struct row_result *result)
{
	double t = tail_quantile(tail_of_interval, INFINITY) + tail_quantile(1 - tail_power, INFINITY);

	return t * sqrt(result->variance) * (result->base + result->head) / 2;
}

/* `whole`: the estimate of the function's total time, which says on which sides the function occurs. */
static void apply_estimate(struct diff_build *build, const struct row_result *result, const struct diff_estimate *whole,
	struct diff_estimate *estimate)
{
	states_interval_of(result, &estimate->ci_low, &estimate->ci_high);
	estimate->q = result->q;
	estimate->detectable = detectable(result);
	estimate->state = states_of_result(build, result, whole->base > 0, whole->head > 0);
}

void states_apply(struct diff_build *build, const struct row *row, const struct row_result *result)
{
	struct diff *diff = build->diff;
	double low, high;

	if (!result->tested)
		return;
	switch (row->kind) {
	case ROW_WHOLE:
		apply_estimate(build, result, &diff->total, &diff->total);
		diff->nodes[0].state = (uint8_t)diff->total.state;
		diff->nodes[0].ci_low = (float)diff->total.ci_low;
		diff->nodes[0].ci_high = (float)diff->total.ci_high;
		break;
	case ROW_SELF:
		apply_estimate(build, result, &diff->functions[row->id].total, &diff->functions[row->id].self);
		break;
	case ROW_TOTAL:
		apply_estimate(build, result, &diff->functions[row->id].total, &diff->functions[row->id].total);
		break;
	case ROW_NODE:
		states_interval_of(result, &low, &high);
		diff->nodes[row->id].state =
			(uint8_t)states_of_result(build, result, result->base > 0, result->head > 0);
		diff->nodes[row->id].ci_low = (float)low;
		diff->nodes[row->id].ci_high = (float)high;
		break;
	}
}

void states_without_evidence(struct diff_build *build)
{
	struct diff *diff = build->diff;
	double least = build_least_effect(build);

	diff->total.state = unproven_state(diff->total.delta, least);
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		/* Functions in interrupts are shown, but not compared. */
		f->self.state = f->interrupt ? DIFF_STATE_SAME : unproven_state(f->self.delta, least);
		f->total.state = f->interrupt ? DIFF_STATE_SAME : unproven_state(f->total.delta, least);
	}
	for (size_t node = 0; node < diff->node_count; node++) {
		double delta =
			diff->node_total[DIFF_HEAD][node] * diff->scale.factor - diff->node_total[DIFF_BASE][node];

		diff->nodes[node].state =
			(uint8_t)(diff->nodes[node].flags & DIFF_NODE_INTERRUPT ? DIFF_STATE_SAME
										: unproven_state(delta, least));
	}
}
