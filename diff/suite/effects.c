/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/suite/effects.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>

/* Fewer benchmarks do not show what executions have in common. */
enum { MIN_BENCHMARKS = 5 };

void effects_deinit(struct suite_effects *e)
{
	for (int series = 0; series < DIFF_SIDES; series++) {
		free(e->series[series].effects);
		free(e->series[series].executions);
	}
}

/* ---- Points ---- */

static struct effects_point point_of(const struct suite_value *value, bool of_cpu)
{
	if (of_cpu)
		return (struct effects_point){ log(value->cpu), value->cpu_error * value->cpu_error, value->execution };
	return (struct effects_point){ log(value->value), value->error * value->error, value->execution };
}

/* The executions of a benchmark are in order on both sides. */
static size_t pair_points(const struct suite_effects *e, uint32_t benchmark, struct effects_point *points)
{
	const struct suite_work *work = e->work;
	const struct suite_side *base = &work->sides[DIFF_BASE], *head = &work->sides[DIFF_HEAD];
	size_t b = base->firsts[benchmark], h = head->firsts[benchmark], count = 0;

	while (b < base->firsts[benchmark + 1] && h < head->firsts[benchmark + 1]) {
		uint32_t in_base = base->values[b].execution, in_head = head->values[h].execution;

		if (in_base == in_head) {
			struct effects_point from = point_of(&base->values[b], e->of_cpu),
					     to = point_of(&head->values[h], e->of_cpu);

			points[count++] =
				(struct effects_point){ to.value - from.value, to.variance + from.variance, in_base };
		}
		b += in_base <= in_head;
		h += in_head <= in_base;
	}
	return count;
}

static int by_layout(const void *left, const void *right)
{
	const struct effects_point *a = left, *b = right;

	return ORDER(a->execution, b->execution);
}

/* Makes points of executions those of their layouts. */
static size_t join_layouts(const struct suite_side *side, struct effects_point *points, size_t count)
{
	size_t layouts = 0;

	for (size_t i = 0; i < count; i++)
		points[i].execution = side->layout_of[points[i].execution];
	qsort(points, count, sizeof(*points), by_layout);
	for (size_t i = 0, end; i < count; i = end) {
		struct effects_point mean = { .execution = points[i].execution };

		for (end = i; end < count && points[end].execution == mean.execution; end++) {
			mean.value += points[end].value;
			mean.variance += points[end].variance;
		}
		mean.value /= (double)(end - i);
		mean.variance /= pow((double)(end - i), 2);
		points[layouts++] = mean;
	}
	return layouts;
}

static size_t raw_points(const struct suite_effects *e, uint32_t benchmark, size_t series, struct effects_point *points)
{
	const struct suite_side *side = &e->work->sides[series];
	size_t count = 0;

	if (e->series_count == 1)
		return pair_points(e, benchmark, points);
	for (size_t i = side->firsts[benchmark]; i < side->firsts[benchmark + 1]; i++)
		points[count++] = point_of(&side->values[i], e->of_cpu);
	return e->has_layouts ? join_layouts(side, points, count) : count;
}

size_t effects_points(const struct suite_effects *e, uint32_t benchmark, size_t series, struct effects_point *points)
{
	size_t count = raw_points(e, benchmark, series, points);

	for (size_t i = 0; i < count; i++)
		points[i].value -= e->series[series].effects[points[i].execution];
	return count;
}

static size_t effects_values_of(const struct suite_work *work, int side, uint32_t benchmark)
{
	return work->sides[side].firsts[benchmark + 1] - work->sides[side].firsts[benchmark];
}

static bool shares_an_execution(const struct suite_work *work, uint32_t benchmark)
{
	const struct suite_side *base = &work->sides[DIFF_BASE], *head = &work->sides[DIFF_HEAD];
	size_t b = base->firsts[benchmark], h = head->firsts[benchmark];

	while (b < base->firsts[benchmark + 1] && h < head->firsts[benchmark + 1]) {
		if (base->values[b].execution == head->values[h].execution)
			return true;
		*(base->values[b].execution < head->values[h].execution ? &b : &h) += 1;
	}
	return false;
}

static bool effects_knows_cpu(const struct suite_work *work, uint32_t benchmark)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (isnan(work->suite->benchmarks[benchmark].cpu[side]))
			return false;
	return true;
}

bool effects_has(const struct suite_effects *e, uint32_t benchmark)
{
	if (e->of_cpu && !effects_knows_cpu(e->work, benchmark))
		return false;
	if (effects_values_of(e->work, DIFF_BASE, benchmark) == 0 ||
		effects_values_of(e->work, DIFF_HEAD, benchmark) == 0)
		return false;
	return e->series_count == DIFF_SIDES || shares_an_execution(e->work, benchmark);
}

/* ---- Effects ---- */

/* Finds the executions in which any benchmark has a value. */
static void find_executions(struct suite_effects *e, size_t series, struct effects_point *points)
{
	struct effects_series *made = &e->series[series];
	size_t most = e->work->sides[series].executions;
	CLEANUP(cleanup_free) bool *present = memory_zeroed(most + 1, sizeof(*present));

	made->effects = memory_zeroed(most + 1, sizeof(*made->effects));
	made->executions = memory_alloc((most + 1) * sizeof(*made->executions));
	for (uint32_t i = 0; i < e->work->suite->benchmark_count; i++) {
		size_t count = effects_has(e, i) ? raw_points(e, i, series, points) : 0;

		for (size_t k = 0; k < count; k++)
			present[points[k].execution] = true;
	}
	for (uint32_t i = 0; i < most; i++)
		if (present[i])
			made->executions[made->count++] = i;
}

/*
 * Collects how far benchmarks are from their means, of those that have a value in each execution of the series:
 * values[execution * room + benchmark].
 */
static void collect_deviations(const struct suite_effects *e, size_t series, struct effects_point *points,
	struct weighted_value *values, size_t room)
{
	size_t executions = e->series[series].count, complete = 0;

	for (uint32_t i = 0; i < e->work->suite->benchmark_count; i++) {
		double mean = 0;

		if (!effects_has(e, i) || raw_points(e, i, series, points) != executions)
			continue;
		for (size_t k = 0; k < executions; k++)
			mean += points[k].value / (double)executions;
		for (size_t k = 0; k < executions; k++)
			values[k * room + complete] = (struct weighted_value){ points[k].value - mean, 1 };
		complete++;
	}
}

static size_t count_complete(const struct suite_effects *e, size_t series, struct effects_point *points)
{
	size_t complete = 0;

	for (uint32_t i = 0; i < e->work->suite->benchmark_count; i++)
		complete += effects_has(e, i) && raw_points(e, i, series, points) == e->series[series].count;
	return complete;
}

static void estimate_series(struct suite_effects *e, size_t series, struct effects_point *points)
{
	const struct effects_series *s = &e->series[series];
	size_t complete = count_complete(e, series, points);
	CLEANUP(cleanup_free) struct weighted_value *values = NULL;
	double mean = 0;

	if (s->count < 2 || complete < MIN_BENCHMARKS)
		return;
	values = memory_zeroed(complete * s->count, sizeof(*values));
	collect_deviations(e, series, points, values, complete);
	for (size_t k = 0; k < s->count; k++) {
		s->effects[s->executions[k]] = weighted_median(&values[k * complete], complete);
		mean += s->effects[s->executions[k]] / (double)s->count;
	}
	for (size_t k = 0; k < s->count; k++) {
		s->effects[s->executions[k]] -= mean;
		e->variance += pow(s->effects[s->executions[k]], 2);
	}
	e->freedom += (double)s->count - 1;
}

void effects_estimate(const struct suite_work *work, bool of_cpu, struct suite_effects *e)
{
	size_t base = work->sides[DIFF_BASE].executions, head = work->sides[DIFF_HEAD].executions;
	size_t most = base > head ? base : head;
	CLEANUP(cleanup_free) struct effects_point *points = memory_alloc((most + 1) * sizeof(*points));

	e->work = work;
	e->of_cpu = of_cpu;
	e->has_layouts = work->sides[DIFF_BASE].layouts > 1 && work->sides[DIFF_HEAD].layouts > 1;
	e->most_points = most;
	e->series_count = work->suite->options.diff.runs_in_pairs && base == head && !e->has_layouts ? 1 : DIFF_SIDES;
	for (size_t s = 0; s < e->series_count; s++) {
		find_executions(e, s, points);
		estimate_series(e, s, points);
	}
	e->variance = e->freedom > 0 ? e->variance / e->freedom : 0;
}
