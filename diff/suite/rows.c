/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/suite/rows.h"

#include "diff/statistics/load.h"
#include "diff/statistics/runtime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void suite_rows_deinit(struct suite_rows *r)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(r->values[side]);
		free(r->variances[side]);
		free(r->executions[side]);
		free(r->samples[side]);
		free(r->times[side]);
		free(r->parts[side]);
	}
	free(r->benchmarks);
	free(r->rows);
	free(r->priors);
}

/* ---- Values ---- */

/* The values of a benchmark on one side, in the order of their executions. */
struct row_values {
	double *values, *variances;
	uint32_t *executions;
	size_t count;
};

static struct row_values row_values_of(const struct suite_rows *r, size_t row, int side)
{
	size_t at = row * r->most[side];

	return (struct row_values){ r->values[side] + at, r->variances[side] + at, r->executions[side] + at, 0 };
}

static void push_value(const struct suite_rows *r, const struct suite_value *value, struct row_values *to)
{
	double error = r->of_cpu ? value->cpu_error : value->error;

	to->values[to->count] = log(r->of_cpu ? value->cpu : value->value);
	to->variances[to->count] = error * error;
	to->executions[to->count++] = value->execution;
}

static bool rows_have_cpu(const struct suite_work *work, uint32_t benchmark)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (isnan(work->suite->benchmarks[benchmark].cpu[side]))
			return false;
	return true;
}

/* Adds the values of executions that both sides have. */
static void push_pairs(const struct suite_rows *r, uint32_t benchmark, struct row_values to[DIFF_SIDES])
{
	const struct suite_side *base = &r->work->sides[DIFF_BASE], *head = &r->work->sides[DIFF_HEAD];
	size_t b = base->firsts[benchmark], h = head->firsts[benchmark];

	while (b < base->firsts[benchmark + 1] && h < head->firsts[benchmark + 1]) {
		uint32_t in_base = base->values[b].execution, in_head = head->values[h].execution;

		if (in_base == in_head) {
			push_value(r, &base->values[b], &to[DIFF_BASE]);
			push_value(r, &head->values[h], &to[DIFF_HEAD]);
		}
		b += in_base <= in_head;
		h += in_head <= in_base;
	}
}

/* Makes values of executions those of their layouts, which are the means of them. */
static void join_layouts(const struct suite_side *side, struct row_values *to)
{
	CLEANUP(cleanup_free) double *sums = memory_zeroed(3 * (side->layouts + 1), sizeof(*sums));
	double *variances = sums + side->layouts + 1, *counts = variances + side->layouts + 1;
	size_t count = 0;

	for (size_t i = 0; i < to->count; i++) {
		uint32_t layout = side->layout_of[to->executions[i]];

		sums[layout] += to->values[i];
		variances[layout] += to->variances[i];
		counts[layout]++;
	}
	for (uint32_t layout = 0; layout < side->layouts; layout++) {
		if (!(counts[layout] > 0))
			continue;
		to->values[count] = sums[layout] / counts[layout];
		to->variances[count] = variances[layout] / (counts[layout] * counts[layout]);
		to->executions[count++] = layout;
	}
	to->count = count;
}

/* Collects the values of a benchmark as those of the next row. False: a side has none. */
static bool collect_values(struct suite_rows *r, uint32_t benchmark)
{
	struct row_values to[DIFF_SIDES];
	struct evidence_row *row = &r->rows[r->count];

	if (r->of_cpu && !rows_have_cpu(r->work, benchmark))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct suite_side *from = &r->work->sides[side];

		to[side] = row_values_of(r, r->count, side);
		for (size_t i = from->firsts[benchmark]; i < from->firsts[benchmark + 1] && !r->in_pairs; i++)
			push_value(r, &from->values[i], &to[side]);
		if (r->has_layouts)
			join_layouts(from, &to[side]);
	}
	if (r->in_pairs)
		push_pairs(r, benchmark, to);
	if (to[DIFF_BASE].count == 0 || to[DIFF_HEAD].count == 0)
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t at = r->count * r->most[side];

		row->sides[side] =
			(struct evidence_counts){ r->samples[side] + at, r->times[side] + at, to[side].count };
	}
	r->benchmarks[r->count] = benchmark;
	return true;
}

/* ---- Counts ---- */

static void count_side(struct suite_rows *r, size_t row, int side)
{
	size_t at = row * r->most[side];

	evidence_count_values(r->values[side] + at, r->variances[side] + at, r->parts[side] + at,
		r->rows[row].sides[side].count, r->samples[side] + at, r->times[side] + at);
}

static void count_rows(struct suite_rows *r)
{
	for (size_t row = 0; row < r->count; row++)
		for (int side = 0; side < DIFF_SIDES; side++)
			count_side(r, row, side);
}

/* ---- What executions have in common ---- */

/* The executions of a side in which any benchmark has a value, and what those have in common. */
struct suite_common {
	uint32_t *ranks; /* owned: [execution] among those; PROFILE_NONE: it has none */
	size_t count;
	double *factors; /* owned: [rank] */
};

static void common_deinit(struct suite_common *common)
{
	free(common->ranks);
	free(common->factors);
}

static void rank_executions(const struct suite_rows *r, int side, struct suite_common *common)
{
	size_t most = r->most[side];

	common->ranks = memory_alloc((most + 1) * sizeof(*common->ranks));
	common->factors = memory_zeroed(most + 1, sizeof(*common->factors));
	for (size_t i = 0; i <= most; i++)
		common->ranks[i] = PROFILE_NONE;
	for (size_t row = 0; row < r->count; row++)
		for (size_t i = 0; i < r->rows[row].sides[side].count; i++)
			common->ranks[r->executions[side][row * most + i]] = 0;
	for (size_t i = 0; i < most; i++)
		if (common->ranks[i] != PROFILE_NONE)
			common->ranks[i] = (uint32_t)common->count++;
}

/* Finds the factors by the benchmarks that have a value in each execution. */
static bool find_common(const struct suite_rows *r, struct suite_common common[DIFF_SIDES])
{
	CLEANUP(cleanup_free) struct evidence_row *complete = memory_alloc((r->count + 1) * sizeof(*complete));
	size_t count = 0;

	for (size_t row = 0; row < r->count; row++)
		if (r->rows[row].sides[DIFF_BASE].count == common[DIFF_BASE].count &&
			r->rows[row].sides[DIFF_HEAD].count == common[DIFF_HEAD].count)
			complete[count++] = r->rows[row];
	return evidence_profile_factors(
		complete, count, (double *[]){ common[DIFF_BASE].factors, common[DIFF_HEAD].factors });
}

static void take_out(struct suite_rows *r, const struct suite_common common[DIFF_SIDES])
{
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t row = 0; row < r->count; row++)
			for (size_t i = 0; i < r->rows[row].sides[side].count; i++) {
				size_t at = row * r->most[side] + i;

				r->values[side][at] -=
					common[side].factors[common[side].ranks[r->executions[side][at]]];
			}
	/* What the executions of a pair share is taken out as well. */
	for (size_t row = 0; row < r->count; row++)
		r->rows[row].in_pairs = false;
	count_rows(r);
}

/* Finds what head's executions have in common beside base's, where what single ones have is known. */
static void find_factor(struct suite_rows *r, const struct suite_common common[DIFF_SIDES], struct evidence_load *load)
{
	CLEANUP(cleanup_free)
	double *samples = memory_alloc(2 * (common[DIFF_BASE].count + common[DIFF_HEAD].count) * sizeof(*samples));
	double *work = samples + common[DIFF_BASE].count + common[DIFF_HEAD].count;
	struct evidence_row total = { .class = EVIDENCE_TOTAL_SUITE, .in_pairs = r->in_pairs };

	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t at = side == DIFF_BASE ? 0 : common[DIFF_BASE].count, count = common[side].count;

		evidence_count_values(common[side].factors, NULL, NULL, count, samples + at, work + at);
		total.sides[side] = (struct evidence_counts){ samples + at, work + at, count };
	}
	load->total = &total;
	(void)evidence_common_factor(r->rows, r->count, load, &r->factor);
}

/* Finds how far each value counts. */
static void find_disturbed(struct suite_rows *r)
{
	for (size_t row = 0; row < r->count; row++) {
		double *parts[DIFF_SIDES] = { r->parts[DIFF_BASE] + row * r->most[DIFF_BASE],
			r->parts[DIFF_HEAD] + row * r->most[DIFF_HEAD] };

		evidence_find_disturbed(&r->rows[row], parts);
		for (int side = 0; side < DIFF_SIDES; side++)
			r->rows[row].sides[side].parts = parts[side];
	}
	count_rows(r);
}

static void find_factors(struct suite_rows *r)
{
	const struct suite_work *work = r->work;
	CLEANUP(common_deinit) struct suite_common base = { 0 };
	CLEANUP(common_deinit) struct suite_common head = { 0 };
	struct suite_common common[DIFF_SIDES];
	struct evidence_load load = { .totals = EVIDENCE_TOTAL_SUITE,
		.is_apart = load_is_apart(work->suite->profiles) };
	bool is_told;

	rank_executions(r, DIFF_BASE, &base);
	rank_executions(r, DIFF_HEAD, &head);
	common[DIFF_BASE] = base;
	common[DIFF_HEAD] = head;
	is_told = find_common(r, common);
	if (is_told)
		take_out(r, common);
	find_disturbed(r);
	evidence_learn_priors(r->rows, r->count, r->priors);
	/* What several executions of few benchmarks have in common is left in each of them. */
	if (is_told)
		find_factor(r, common, &load);
	else if (base.count == 1 || head.count == 1)
		(void)evidence_common_factor(r->rows, r->count, &load, &r->factor);
	else
		r->factor = evidence_factor_of_load(&load);
}

/* ---- */

static bool rows_are_in_pairs(const struct suite_rows *r)
{
	const struct suite_work *work = r->work;

	return work->suite->options.diff.runs_in_pairs && !r->has_layouts &&
	       work->sides[DIFF_BASE].executions == work->sides[DIFF_HEAD].executions;
}

static void rows_alloc(struct suite_rows *r)
{
	size_t count = r->work->suite->benchmark_count + 1;

	r->rows = memory_zeroed(count, sizeof(*r->rows));
	r->benchmarks = memory_zeroed(count, sizeof(*r->benchmarks));
	r->priors = memory_zeroed(count, sizeof(*r->priors));
	for (int side = 0; side < DIFF_SIDES; side++) {
		size_t cells = count * (r->most[side] = r->work->sides[side].executions) + 1;

		r->values[side] = memory_zeroed(cells, sizeof(**r->values));
		r->variances[side] = memory_zeroed(cells, sizeof(**r->variances));
		r->executions[side] = memory_zeroed(cells, sizeof(**r->executions));
		r->samples[side] = memory_zeroed(cells, sizeof(**r->samples));
		r->times[side] = memory_zeroed(cells, sizeof(**r->times));
		r->parts[side] = memory_alloc(cells * sizeof(**r->parts));
		for (size_t i = 0; i < cells; i++)
			r->parts[side][i] = 1;
	}
}

void suite_rows_init(struct suite_rows *r, const struct suite_work *work, bool of_cpu, const double *further)
{
	bool is_compiled = runtime_compiles(runtime_language_of_profile(work->suite->profiles[DIFF_HEAD]));

	*r = (struct suite_rows){ .work = work, .of_cpu = of_cpu };
	r->has_layouts = work->sides[DIFF_BASE].layouts > 1 && work->sides[DIFF_HEAD].layouts > 1;
	r->in_pairs = rows_are_in_pairs(r);
	rows_alloc(r);
	for (uint32_t i = 0; i < work->suite->benchmark_count; i++) {
		struct evidence_row *row = &r->rows[r->count];

		*row = (struct evidence_row){ .class = is_compiled ? EVIDENCE_BENCHMARK_COMPILED : EVIDENCE_BENCHMARK,
			.in_pairs = r->in_pairs,
			.is_same_code = work->suite->benchmarks[i].code == DIFF_CODE_SAME && !work->relinked[i],
			.further = further ? further[i] : 0 };
		r->count += collect_values(r, i);
	}
	if (r->count == 0)
		return;
	count_rows(r);
	find_factors(r);
}

double suite_rows_value(const struct suite_rows *r, size_t row, enum diff_side side)
{
	const struct evidence_counts *counts = &r->rows[row].sides[side];
	double samples = 0, times = 0;

	for (size_t i = 0; i < counts->count; i++) {
		samples += counts->parts[i] * counts->samples[i];
		times += counts->parts[i] * counts->work[i];
	}
	return samples / times;
}

double suite_rows_deviation(const struct suite_rows *r, size_t row)
{
	double squares = 0, freedom = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct row_values of = row_values_of(r, row, side);
		double mean = 0;

		of.count = r->rows[row].sides[side].count;
		for (size_t i = 0; i < of.count; i++)
			mean += of.values[i] / (double)of.count;
		for (size_t i = 0; i < of.count; i++)
			squares += pow(of.values[i] - mean, 2);
		freedom += (double)of.count - 1;
	}
	return freedom > 0 ? sqrt(squares / freedom) : 0;
}
